// The page shows /api/v1/status and nothing else. Everything from the agent is set as text, never as markup.
'use strict';

const kRefreshMs = 2000;
const kGiveUpMs = 8000;

// Shape and word go with every colour.
const kMarks = {ok: '✓', warning: '▲', critical: '✕', unknown: '?', info: 'i'};
const kWords = {ok: 'Healthy', warning: 'Warning', critical: 'Critical', unknown: 'Unknown'};

const byId = (id) => document.getElementById(id);

function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function chip(tone, words) {
  return element('span', `chip ${tone}`, `${kMarks[tone] ?? '?'} ${words}`);
}

function age(ms) {
  if (ms === null || ms === undefined) return '–';
  if (ms < 1000) return `${Math.max(0, ms)} ms`;
  const s = Math.floor(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor(s % 86400 / 3600)} h`;
}

const short = (id) => id ? id.slice(0, 4) : '–';
const shown = (value) => value === null || value === undefined || value === '' ? '–' : String(value);
const count = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;

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

const kTones = {ok: 'ok', warn: 'warning', fail: 'critical', unknown: 'unknown'};

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

function table(headings, rows) {
  const head = element('tr', '', ...headings.map(([text, hint]) => {
    const cell = element('th', '', text);
    cell.scope = 'col';
    if (hint) cell.title = hint;
    return cell;
  }));
  return element('div', 'scroll', element('table', '', element('thead', '', head), element('tbody', '', ...rows)));
}

function memberTable(cluster) {
  const agreed = {};
  for (const claim of Object.keys(kClaims)) agreed[claim] = majority(cluster.members.map(kClaims[claim]));
  const leader = cluster.members.find((m) => m.name === cluster.leader);
  return table([
    ['Member'], ['Verdict'], ['Raft address'], ['Role'], ['Sees leader', 'the server that this member takes for the leader'], ['Term'],
    ['Cluster', 'cluster id'], ['Servers', 'how many servers this member lists'], ['Log', 'first entry, next entry'],
    ['Open', 'entries not yet committed / not yet applied'], ['Last msg', 'how long ago the leader heard this member'],
    ['Peers', 'raft connections that are up: outgoing / incoming'], ['Seen', 'how long ago this member was looked at'],
  ], cluster.members.map((member) => memberRow(member, agreed, leader)));
}

// For reading and copying into a shell: only what needs quotes gets them.
const quoted = (word) => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

function findingCard(finding) {
  const advice = finding.advice;
  const where = advice && advice.run_on ? ` (run on ${advice.run_on})` : '';
  return element('article', `finding ${finding.severity}`,
    element('div', 'head', chip(finding.severity, finding.severity), element('code', '', finding.code),
      element('span', 'soft', `for ${age(finding.age_ms)}`), element('span', 'soft mono', finding.subjects.join(' · '))),
    element('p', '', finding.summary),
    finding.evidence.length ? element('ul', '', ...finding.evidence.map((e) => element('li', '', `${e.by}: `, element('code', '', e.says)))) : null,
    advice ? element('p', 'advice', element('strong', '', 'Do: '), advice.text + where) : null,
    advice && advice.command.length ? element('pre', '', advice.command.map(quoted).join(' ')) : null);
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

const kExitTones = ['ok', 'warning', 'critical', 'unknown'];

function checkRow(check) {
  const tone = kExitTones[check.exit_code] ?? 'unknown';
  const why = check.detail ?? check.reason;
  return element('tr', '', element('td', 'name', check.name), element('td', '', chip(tone, check.degraded ? 'degraded' : check.blind ? 'blind' : check.state)),
    element('td', '', check.kind), element('td', 'wide', shown(why)), element('td', 'mono', age(check.since_ms)), element('td', 'mono', age(check.age_ms)));
}

function checksCard(status) {
  if (!status.checks.length) return [];
  const gates = status.gates.map((gate) => chip(gate.ready ? 'ok' : 'critical', `${gate.name}${gate.ready ? '' : ': ' + gate.failing.join(', ')}`));
  return [element('section', 'card', element('div', 'top', element('h2', '', 'Checks and gates'), ...gates),
    table([['Check'], ['State'], ['Kind'], ['Why'], ['Since'], ['Seen']], status.checks.map(checkRow)))];
}

function sentence(status) {
  const ill = status.clusters.filter((c) => c.verdict !== 'ok')
    .map((c) => c.findings.length ? `${c.cluster}: ${c.findings[0].summary}` : c.cluster);
  const names = new Set(status.clusters.map((c) => c.cluster));
  const failing = status.checks.filter((c) => c.exit_code !== 0 && !names.has(c.name)).map((c) => c.name);
  const others = status.checks.filter((c) => !names.has(c.name)).length;
  const parts = [];
  if (status.clusters.length) parts.push(ill.length ? `${ill.length} of ${count(status.clusters.length, 'cluster')} not well. ${ill.join('. ')}` : `${count(status.clusters.length, 'cluster')} well`);
  if (others) parts.push(failing.length ? `${failing.length} of ${count(others, 'check')} not well: ${failing.slice(0, 5).join(', ')}${failing.length > 5 ? ' …' : ''}` : `${count(others, 'check')} well`);
  if (status.self.complaint) parts.push(`this agent is degraded: ${status.self.complaint}`);
  return parts.join('; ') || 'Nothing is watched yet.';
}

function showVerdict(tone, title, text) {
  byId('verdict').className = `verdict ${tone}`;
  byId('verdict').replaceChildren(Object.assign(element('span', 'mark', kMarks[tone]), {ariaHidden: 'true'}),
    element('div', '', element('h1', '', title), element('p', '', text)));
}

let lastAnswer = null;

function show(status) {
  const tone = kWords[status.verdict] ? status.verdict : 'unknown';
  document.title = `${kMarks[tone]} ${kWords[tone]} · ${status.node}`;
  byId('node').textContent = status.node;
  byId('version').textContent = `wardmote ${status.version}, up ${age(status.uptime_ms)}`;
  byId('freshness').textContent = `as of ${new Date(status.at).toLocaleTimeString()}`;
  showVerdict(tone, kWords[tone], sentence(status));
  // Redrawing would take away what somebody is about to copy.
  if (!getSelection().isCollapsed) return;
  byId('clusters').replaceChildren(...status.clusters.map(clusterCard));
  byId('checks').replaceChildren(...checksCard(status));
}

// An old answer is no answer: it must not stay green.
function showSilence() {
  const since = lastAnswer === null ? 'It has not answered yet.' : `What is below is ${age(Date.now() - lastAnswer)} old.`;
  document.title = `${kMarks.unknown} No answer · wardmote`;
  byId('freshness').textContent = 'no connection';
  showVerdict('unknown', 'No answer from the agent', since);
}

async function refresh() {
  try {
    const response = await fetch('api/v1/status', {cache: 'no-store', signal: AbortSignal.timeout(kGiveUpMs)});
    if (!response.ok) throw new Error(`status ${response.status}`);
    const status = await response.json();
    lastAnswer = Date.now();
    show(status);
  } catch (error) {
    console.warn('wardmote: no answer:', error);
    showSilence();
  }
  setTimeout(refresh, kRefreshMs);
}

refresh();
