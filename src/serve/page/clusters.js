// Raft clusters: what each member says of itself and of the others.

// What a member claims about the whole cluster; members should agree on it.
const kClaims = {
  leader: (m) => m.leader === null ? null : m.leader === 'self' ? short(m.server_id) : m.leader,
  term: (m) => m.term,
  cluster: (m) => m.cluster_id,
  servers: (m) => m.servers.length === 0 ? null : m.servers.map((s) => `${short(s.id) === '–' ? s.nickname : short(s.id)} ${s.address}`).sort().join('\n'),
};

function majority(values) {
  const votes = new Map();
  for (const value of values) if (value !== null) votes.set(value, (votes.get(value) ?? 0) + 1);
  let best = null;
  for (const [value, n] of votes) if (best === null || n > votes.get(best)) best = value;
  return best;
}

function claimCell(claim, member, agreed, text) {
  const value = kClaims[claim](member);
  const cell = element('td', value !== null && value !== agreed[claim] ? 'differs mono' : 'mono', text);
  if (claim === 'servers' && value !== null) cell.title = value;
  if (claim === 'cluster' && value !== null) cell.title = value;
  return cell;
}

function memberRow(member, agreed, leader) {
  const line = leader && leader !== member ? leader.servers.find((s) => s.id && member.server_id && short(s.id) === short(member.server_id)) : null;
  const up = (direction) => member.connections.filter((c) => c.startsWith(direction)).length;
  const tone = kTones[member.outcome] ?? 'unknown';
  const verdict = member.outcome === 'ok' ? 'ok' : member.reason ? `${member.outcome}: ${member.reason}` : member.outcome;
  const row = element('tr', '',
    element('td', 'name', member.name),
    element('td', '', chip(tone, verdict)),
    element('td', 'mono', shown(member.address)),
    element('td', '', shown(member.role)),
    claimCell('leader', member, agreed, shown(kClaims.leader(member))),
    claimCell('term', member, agreed, shown(member.term)),
    claimCell('cluster', member, agreed, short(member.cluster_id)),
    claimCell('servers', member, agreed, member.servers.length ? String(member.servers.length) : '–'),
    element('td', 'mono', member.log ? `[${member.log[0]}, ${member.log[1]}]` : '–'),
    element('td', 'mono', member.uncommitted === null ? '–' : `${member.uncommitted} / ${member.unapplied}`),
    element('td', 'mono', line ? age(line.last_msg_ms) : '–'),
    element('td', 'mono', member.connections.length ? `${up('->')} / ${up('<-')}` : '–'),
    element('td', 'mono', age(member.age_ms)));
  if (member.detail) row.title = member.detail;
  return row;
}

function memberTable(cluster) {
  const agreed = {};
  for (const claim of Object.keys(kClaims)) agreed[claim] = majority(cluster.members.map(kClaims[claim]));
  const leader = cluster.members.find((m) => m.name === cluster.leader);
  return table(`Members of ${cluster.cluster}`, [
    ['Member'], ['Verdict'], ['Raft address'], ['Role'], ['Sees leader', 'the server that this member takes for the leader'], ['Term'],
    ['Cluster', 'cluster id'], ['Servers', 'how many servers this member lists'], ['Log', 'first entry, next entry'],
    ['Open', 'entries not yet committed / not yet applied'], ['Last msg', 'how long ago the leader heard this member'],
    ['Peers', 'raft connections that are up: outgoing / incoming'], ['Seen', 'how long ago this member was looked at'],
  ], cluster.members.map((member) => memberRow(member, agreed, leader)));
}

function clusterCard(cluster) {
  const quorum = cluster.quorum.voters ? `${cluster.quorum.live} of ${count(cluster.quorum.voters, 'voter')} alive, ${cluster.quorum.needed} needed` : 'quorum not known';
  const card = element('section', 'card',
    element('div', 'top', element('h2', '', cluster.cluster), chip(cluster.verdict, kWords[cluster.verdict] ?? 'Unknown'),
      element('span', 'soft', cluster.database), element('span', 'soft', cluster.leader ? `leader ${cluster.leader}` : 'no leader answers'),
      element('span', 'soft', quorum)),
    memberTable(cluster));
  if (cluster.findings.length) {
    card.append(element('div', 'findings', element('h3', '', count(cluster.findings.length, 'finding')), ...cluster.findings.map(findingCard)));
  }
  return card;
}
