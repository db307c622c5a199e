// The page shows what the API says, and decides nothing. Everything from the agent is set as text, never as markup.
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

// What somebody opened, focused or scrolled to stays so when everything is drawn anew: it has a key.
const opened = new Set();

function keyed(made, key) {
  made.dataset.key = key;
  return made;
}

function redraw(id, ...children) {
  const place = byId(id);
  const focused = place.contains(document.activeElement) ? document.activeElement.closest('[data-key]')?.dataset.key : undefined;
  const scrolled = [...place.querySelectorAll('.scroll')].map((one) => [one.dataset.key, one.scrollLeft]);
  place.replaceChildren(...children);
  const find = (key) => [...place.querySelectorAll('[data-key]')].find((one) => one.dataset.key === key);
  for (const [key, left] of scrolled) if (left > 0 && find(key)) find(key).scrollLeft = left;
  if (focused !== undefined) find(focused)?.focus({preventScroll: true});
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

// `name` is what a reader of the screen hears of it; with the keys it can be scrolled.
function table(name, headings, rows) {
  const head = element('tr', '', ...headings.map(([text, hint]) => {
    const cell = element('th', '', text);
    cell.scope = 'col';
    if (hint) cell.title = hint;
    return cell;
  }));
  const scroll = element('div', 'scroll', element('table', '', element('thead', '', head), element('tbody', '', ...rows)));
  return Object.assign(keyed(scroll, `table ${name}`), {tabIndex: 0, role: 'region', ariaLabel: name});
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

const kCells = {
  up: {tone: 'ok', mark: '✓'}, down: {tone: 'critical', mark: '✕'}, disabled: {tone: 'warning', mark: '▲'},
  absent: {tone: 'warning', mark: '○'}, blind: {tone: 'unknown', mark: '?'},
};
const kCellWords = {blind: 'says nothing'};
const kMostWithWords = 12;
const meshId = (name) => `mesh ${name}`;
const meshLink = (name, text) => keyed(Object.assign(element('a', '', text), {href: `#${encodeURIComponent(meshId(name))}`}), `to mesh ${text}`);

// What one end says of the other. Where the other end says something else, both are marked: that is what two ends are asked for.
function meshCell(mesh, i, j) {
  if (i === j) return element('td', 'session soft', '·');
  const says = mesh.matrix[i][j];
  const back = mesh.matrix[j][i];
  const {tone, mark} = kCells[says] ?? kCells.blind;
  const word = (cell) => kCellWords[cell] ?? cell;
  const uneven = says !== back && says !== 'blind' && back !== 'blind';
  const [a, b] = [mesh.nodes[i].name, mesh.nodes[j].name];
  const cell = element('td', `session ${tone}${uneven ? ' uneven' : ''}`, Object.assign(element('span', 'mark', mark), {ariaHidden: 'true'}),
    element('span', 'word', word(says)));
  cell.title = says === 'blind' ? `${a} says nothing of ${b}` : `${a} says of ${b}: ${says}; ${b} says of ${a}: ${back === 'blind' ? 'nothing' : back}`;
  return cell;
}

function meshRow(mesh, i) {
  const node = mesh.nodes[i];
  const down = mesh.findings.find((one) => one.code === 'BGP_DAEMON_DOWN' && one.subjects.includes(node.name));
  const name = Object.assign(element('th', 'node', node.name), {scope: 'row'});
  if (node.router_id) name.title = `router id ${node.router_id}`;
  const state = node.reason ? chip(down?.severity ?? 'unknown', node.reason) : element('span', 'soft', shown(node.version));
  if (node.detail) state.title = node.detail;
  return element('tr', '', name, element('td', '', state), ...mesh.nodes.map((_, j) => meshCell(mesh, i, j)));
}

// Each session has two ends, and is up when both say so.
function sessionsUp(mesh) {
  const pairs = mesh.matrix.flatMap((row, i) => row.slice(i + 1).map((says, k) => [says, mesh.matrix[i + 1 + k][i]]));
  const kept = pairs.filter(([one, other]) => one !== 'absent' || other !== 'absent');
  return `${kept.filter(([one, other]) => one === 'up' && other === 'up').length} of ${count(kept.length, 'session')} up at both ends`;
}

function meshCard(mesh) {
  const tone = kTones[mesh.outcome] ?? 'unknown';
  const drawn = table(`BGP mesh ${mesh.mesh}`, [['Says ↓ of →', 'each row is what this node says of its sessions with the others'], ['Daemon'],
    ...mesh.nodes.map((node) => [node.name])], mesh.nodes.map((_, i) => meshRow(mesh, i)));
  drawn.classList.add('mesh');
  drawn.classList.toggle('dense', mesh.nodes.length > kMostWithWords);
  const card = keyed(element('section', 'card',
    element('div', 'top', element('h2', '', mesh.mesh), chip(tone, kWords[tone]), element('span', 'soft', `BGP mesh of ${count(mesh.nodes.length, 'node')}`),
      element('span', 'soft', sessionsUp(mesh)),
      ...mesh.observed.map((one) => element('span', 'soft', `seen, not yet a finding: ${one.code} ${one.subject}`))),
    drawn), meshId(mesh.mesh));
  if (mesh.findings.length) {
    card.append(element('div', 'findings', element('h3', '', count(mesh.findings.length, 'finding')), ...mesh.findings.map(findingCard)));
  }
  return Object.assign(card, {id: meshId(mesh.mesh), tabIndex: -1});
}

const kExitTones = ['ok', 'warning', 'critical', 'unknown'];

function checkRow(check, meshes) {
  const tone = kExitTones[check.exit_code] ?? 'unknown';
  const why = check.detail ?? check.reason;
  const name = meshes.has(check.name) ? meshLink(check.name, check.name) : check.name;
  return element('tr', '', element('td', 'name', name), element('td', '', chip(tone, check.degraded ? 'degraded' : check.blind ? 'blind' : check.state)),
    element('td', '', check.kind), element('td', 'wide', shown(why)), element('td', 'mono', age(check.since_ms)), element('td', 'mono', age(check.age_ms)));
}

function checksCard(status) {
  if (!status.checks.length) return [];
  const meshes = new Set(status.meshes.map((one) => one.mesh));
  const gates = status.gates.map((gate) => chip(gate.ready ? 'ok' : 'critical', `${gate.name}${gate.ready ? '' : ': ' + gate.failing.join(', ')}`));
  return [element('section', 'card', element('div', 'top', element('h2', '', 'Checks and gates'), ...gates),
    table('Checks', [['Check'], ['State'], ['Kind'], ['Why'], ['Since'], ['Seen']], status.checks.map((one) => checkRow(one, meshes))))];
}

const since = (at, now) => age(new Date(now) - new Date(at));

// One cause, closed until somebody asks for what belongs to it.
function incidentRow(incident, now) {
  const acknowledged = incident.acknowledged;
  const row = element('details', 'incident',
    keyed(element('summary', '', chip(incident.severity, incident.severity), element('strong', '', incident.root), element('span', '', incident.summary),
      element('span', 'soft', `for ${since(incident.opened, now)}`),
      incident.flapping ? chip('warning', 'flapping') : null, incident.storm ? chip('warning', 'storm') : null,
      acknowledged ? element('span', 'soft', `known to ${acknowledged.by}${acknowledged.comment ? `: ${acknowledged.comment}` : ''}`) : null),
      `incident ${incident.id}`),
    element('ul', '', ...incident.standing.map((one) => element('li', '', chip(one.severity, one.severity), ' ', element('code', '', one.code), ' ',
      `${one.component}: ${one.summary}`))),
    incident.symptoms > incident.standing.length ? element('p', 'soft', `and ${incident.symptoms - incident.standing.length} more`) : null,
    element('pre', '', `wardmote history --incident ${incident.id}${acknowledged ? '' : `\nwardmote ack ${incident.id}`}`));
  row.open = opened.has(incident.id);
  row.addEventListener('toggle', () => opened[row.open ? 'add' : 'delete'](incident.id));
  return row;
}

function incidentsCard(answer) {
  const top = element('div', 'top', element('h2', '', 'Incidents'));
  if (answer === null) return element('section', 'card', top, element('p', 'empty', 'The agent does not tell of them now.'));
  const grave = {critical: 0, warning: 1, info: 2};
  const list = [...answer.incidents].sort((a, b) => grave[a.severity] - grave[b.severity] || a.id - b.id);
  top.append(list.length ? chip(list[0].severity, `${list.length} open`) : chip('ok', 'none open'));
  return element('section', 'card', top, list.length ? null : element('p', 'empty', 'Nothing is wrong that anybody would have to know of.'),
    ...list.map((one) => incidentRow(one, answer.at)));
}

function receiverRow(receiver, now) {
  const last = receiver.last;
  const tone = receiver.dead ? 'critical' : last === null ? 'unknown' : last.good ? 'ok' : 'warning';
  const words = last === null ? 'never told anything' : last.good ? 'took the last notice' : 'refused the last notice';
  return element('tr', '', element('td', 'name', receiver.name), element('td', '', chip(tone, words)), element('td', '', receiver.kind),
    element('td', 'mono', String(receiver.delivered)), element('td', 'mono', String(receiver.waiting)), element('td', 'mono', String(receiver.dead)),
    element('td', 'wide', last && !last.good ? last.reason : '–'), element('td', 'mono', last ? since(last.at, now) : '–'));
}

function receiversCard(answer, silences) {
  if (answer === null) return [];
  const active = silences === null ? [] : silences.silences.filter((one) => one.active);
  const card = element('section', 'card', element('div', 'top', element('h2', '', 'Who is told'),
    ...active.map((one) => chip('warning', `silence ${one.name ?? one.id}: ${one.match.join(', ')} until ${new Date(one.until).toLocaleString()}`))));
  card.append(answer.receivers.length
    ? table('Receivers', [['Receiver'], ['State'], ['Kind'], ['Told', 'notices that were taken'], ['Waiting', 'notices on their way'],
      ['Given up', 'notices that could not be delivered'], ['Why'], ['Last']], answer.receivers.map((one) => receiverRow(one, answer.at)))
    : element('p', 'empty', 'Nobody: the configuration names no receivers.'));
  return [card];
}

const kPlanTones = {observed: 'info', proposed: 'warning', running: 'info', unclear: 'critical', done: 'ok', failed: 'critical', rejected: 'unknown', withdrawn: 'unknown'};
const kPlanWords = {
  observed: 'would be done', proposed: 'waits for approval', running: 'running', unclear: 'unclear', done: 'done', failed: 'failed',
  rejected: 'rejected', withdrawn: 'withdrawn',
};
const kStepTones = {waiting: 'unknown', begun: 'info', done: 'ok', failed: 'critical'};
const kStepMarks = {waiting: '○', begun: '▶', done: '✓', failed: '✕'};
const kStepWords = {
  confirm_quorum: 'the cluster can do without it', copy_database: 'its database is copied aside', kick: 'the leader removes it from the list',
  rejoin: 'it joins anew', verify: 'the list is as it should be',
};
const kRoles = ['none', 'viewer', 'operator', 'admin'];
const kOrders = {approve: {least: 'admin', word: 'Approve'}, reject: {least: 'operator', word: 'Reject'}};
const kOpenStates = ['proposed', 'unclear', 'running', 'observed'];
const kMostEnded = 5;

// What somebody has begun to order, and what came of it, by the plan's number: drawn anew with it.
const asked = new Map();
const replies = new Map();

let me = {name: 'nobody', role: 'none'};
const may = (least) => kRoles.indexOf(me.role) >= kRoles.indexOf(least);

// An order is given in two clicks: the first says in full what the second does.
function orderButtons(plan) {
  const possible = {proposed: ['approve', 'reject'], unclear: ['approve', 'reject'], observed: ['reject'], running: []}[plan.state] ?? [];
  const allowed = possible.filter((verb) => may(kOrders[verb].least));
  const row = element('div', 'orders');
  const chosen = asked.get(plan.id);
  const button = (text, className, key, act) => {
    const made = keyed(element('button', className, text), `${key} ${plan.id}`);
    made.type = 'button';
    made.addEventListener('click', act);
    row.append(made);
  };
  if (chosen !== undefined && allowed.includes(chosen)) {
    const words = chosen === 'reject' ? 'Yes, reject' : plan.state === 'unclear' ? 'Yes, do that step again' : 'Yes, begin';
    button(`${words}: ${plan.summary}`, 'grave', 'yes', () => give(plan.id, chosen));
    button('No', '', 'no', () => { asked.delete(plan.id); drawPlans(); });
  } else {
    for (const verb of allowed) button(kOrders[verb].word, '', verb, () => { asked.set(plan.id, verb); replies.delete(plan.id); drawPlans(); });
    const others = possible.filter((verb) => !allowed.includes(verb));
    if (others.length) row.append(element('span', 'soft', `${others.map((verb) => `${verb}: needs the role ${kOrders[verb].least}`).join('; ')}`));
  }
  const reply = replies.get(plan.id);
  if (reply) row.append(element('span', 'said', reply));
  return row.childNodes.length ? row : null;
}

async function give(id, verb) {
  asked.delete(id);
  try {
    const response = await fetch(`api/v1/plans/${id}/${verb}`, {
      method: 'POST', cache: 'no-store', signal: AbortSignal.timeout(kGiveUpMs), body: JSON.stringify({comment: 'from the page'}),
      headers: {...headers(), 'Content-Type': 'application/json'},
    });
    const answer = await response.json();
    replies.set(id, response.ok ? '' : answer.error.message);
  } catch {
    replies.set(id, 'no answer: look before you order it again');
  }
  await refreshPlans();
}

function stepLine(step) {
  const mark = Object.assign(element('span', 'mark', kStepMarks[step.state] ?? '?'), {title: step.state, role: 'img', ariaLabel: step.state});
  return element('li', kStepTones[step.state] ?? 'unknown', mark, element('span', 'mono', step.kind),
    element('span', 'soft', step.detail || kStepWords[step.kind] || ''));
}

function planCard(plan) {
  const missing = plan.state === 'observed' ? `The policy ${plan.policy} only observes: nothing is done.` : plan.reason;
  return element('article', 'plan',
    element('div', 'head', chip(kPlanTones[plan.state] ?? 'unknown', kPlanWords[plan.state] ?? plan.state), element('strong', '', plan.summary),
      element('span', 'soft', `plan ${plan.id}, ${age(plan.age_ms)} ago`), plan.code ? element('code', '', plan.code) : null,
      plan.approver ? element('span', 'soft', `approved by ${plan.approver}`) : null),
    element('p', '', plan.why), missing ? element('p', '', missing) : null,
    element('ol', '', ...plan.steps.map(stepLine)), orderButtons(plan));
}

function endedCard(ended) {
  if (!ended.length) return null;
  const list = element('details', 'incident', keyed(element('summary', '', `${ended.length === kMostEnded ? 'the last ' : ''}${count(ended.length, 'plan')} at the end`), 'ended plans'),
    ...ended.map(planCard));
  list.open = opened.has('ended plans');
  list.addEventListener('toggle', () => opened[list.open ? 'add' : 'delete']('ended plans'));
  return list;
}

// Nothing is shown where nothing is planned: most agents have no policies.
function plansCard(answer) {
  if (answer === null) return [];
  const open = answer.plans.filter((plan) => kOpenStates.includes(plan.state))
    .sort((a, b) => kOpenStates.indexOf(a.state) - kOpenStates.indexOf(b.state) || a.id - b.id);
  const ended = answer.plans.filter((plan) => !kOpenStates.includes(plan.state)).sort((a, b) => b.id - a.id).slice(0, kMostEnded);
  if (!open.length && !ended.length && !answer.refusals.length && !answer.pauses.length) return [];
  return [element('section', 'card', element('div', 'top', element('h2', '', 'Plans'),
    answer.frozen ? chip('critical', answer.frozen) : null,
    ...answer.pauses.map((one) => chip('warning', `${one.scope === 'all' ? 'everything' : one.scope} is paused by ${one.by}${one.until ? ` until ${new Date(one.until).toLocaleString()}` : ''}`))),
  open.length ? null : element('p', 'empty', 'Nothing is planned now.'), ...open.map(planCard),
  ...answer.refusals.map((one) => element('p', 'refusal', chip('unknown', 'not planned'), ' ', element('code', '', one.code),
    ` of ${one.subject} in ${one.cluster}: ${one.reason}`)),
  endedCard(ended))];
}

let lastPlans = null;
const drawPlans = () => redraw('plans', ...plansCard(lastPlans));

async function refreshPlans() {
  lastPlans = await askIfThere('plans?all=true');
  drawPlans();
}

// Words, and links to what they are of.
function sentence(status) {
  const ill = status.clusters.filter((c) => c.verdict !== 'ok')
    .map((c) => c.findings.length ? `${c.cluster}: ${c.findings[0].summary}` : c.cluster);
  const told = new Set([...status.clusters.map((c) => c.cluster), ...status.meshes.map((m) => m.mesh)]);
  const failing = status.checks.filter((c) => c.exit_code !== 0 && !told.has(c.name)).map((c) => c.name);
  const others = status.checks.filter((c) => !told.has(c.name)).length;
  const parts = [];
  if (status.clusters.length) parts.push([ill.length ? `${ill.length} of ${count(status.clusters.length, 'cluster')} not well. ${ill.join('. ')}` : `${count(status.clusters.length, 'cluster')} well`]);
  for (const mesh of status.meshes) {
    const why = mesh.findings.length ? `: ${mesh.findings[0].summary}` : '';
    parts.push([meshLink(mesh.mesh, `mesh ${mesh.mesh}`), mesh.outcome === 'ok' ? ' well' : ` not well${why}`]);
  }
  if (others) parts.push([failing.length ? `${failing.length} of ${count(others, 'check')} not well: ${failing.slice(0, 5).join(', ')}${failing.length > 5 ? ' …' : ''}` : `${count(others, 'check')} well`]);
  if (status.self.complaint) parts.push([`this agent is degraded: ${status.self.complaint}`]);
  return parts.length ? parts.flatMap((part, n) => n ? ['; ', ...part] : part) : ['Nothing is watched yet.'];
}

function showVerdict(tone, title, ...text) {
  byId('verdict').className = `verdict ${tone}`;
  redraw('verdict', Object.assign(element('span', 'mark', kMarks[tone]), {ariaHidden: 'true'}),
    element('div', '', element('h1', '', title), element('p', '', ...text)));
}

let lastAnswer = null;

function show(status, incidents, receivers, silences, plans, who) {
  const tone = kWords[status.verdict] ? status.verdict : 'unknown';
  document.title = `${kMarks[tone]} ${kWords[tone]} · ${status.node}`;
  byId('node').textContent = status.node;
  byId('version').textContent = `wardmote ${status.version}, up ${age(status.uptime_ms)}`;
  byId('freshness').textContent = `as of ${new Date(status.at).toLocaleTimeString()}`;
  showVerdict(tone, kWords[tone], ...sentence(status));
  // Redrawing would take away what somebody is about to copy.
  if (!getSelection().isCollapsed) return;
  me = who ?? {name: 'nobody', role: 'none'};
  lastPlans = plans;
  byId('who').firstElementChild.textContent = `${me.role} (${me.name})`;
  redraw('incidents', incidentsCard(incidents));
  drawPlans();
  redraw('clusters', ...status.clusters.map(clusterCard));
  redraw('meshes', ...status.meshes.map(meshCard));
  redraw('checks', ...checksCard(status));
  redraw('receivers', ...receiversCard(receivers, silences));
}

class Stranger extends Error {}

// What was shown to whom it was shown must not stay there for the next.
function showStranger() {
  document.title = `${kMarks.unknown} Sign in · wardmote`;
  byId('freshness').textContent = '';
  byId('who').firstElementChild.textContent = 'sign in';
  showVerdict('unknown', 'The agent asks who you are', token ? 'It does not know this token.' : 'Show a token, at the top right.');
  for (const id of ['incidents', 'plans', 'clusters', 'meshes', 'checks', 'receivers']) byId(id).replaceChildren();
}

// An old answer is no answer: it must not stay green.
function showSilence() {
  const since = lastAnswer === null ? 'It has not answered yet.' : `What is below is ${age(Date.now() - lastAnswer)} old.`;
  document.title = `${kMarks.unknown} No answer · wardmote`;
  byId('freshness').textContent = 'no connection';
  showVerdict('unknown', 'No answer from the agent', since);
}

// In memory only: whoever opens this page next has to show one again.
let token = '';
const headers = () => token ? {Authorization: `Bearer ${token}`} : {};

byId('sign-in').addEventListener('click', () => {
  token = byId('token').value.trim();
  byId('token').value = '';
  byId('who').open = false;
  refreshNow();
});
byId('token').addEventListener('keydown', (event) => { if (event.key === 'Enter') byId('sign-in').click(); });

async function ask(what) {
  const response = await fetch(`api/v1/${what}`, {cache: 'no-store', signal: AbortSignal.timeout(kGiveUpMs), headers: headers()});
  if (response.status === 401) throw new Stranger();
  if (!response.ok) throw new Error(`${what}: status ${response.status}`);
  return response.json();
}

// Without these the page still tells the state of everything.
const askIfThere = (what) => ask(what).catch(() => null);

async function refreshNow() {
  try {
    const [status, ...more] = await Promise.all([ask('status'), ...['incidents', 'receivers', 'silences', 'plans?all=true', 'whoami'].map(askIfThere)]);
    lastAnswer = Date.now();
    show(status, ...more);
  } catch (error) {
    if (error instanceof Stranger) {
      showStranger();
    } else {
      console.warn('wardmote: no answer:', error);
      showSilence();
    }
  }
}

async function refresh() {
  await refreshNow();
  setTimeout(refresh, kRefreshMs);
}

refresh();
