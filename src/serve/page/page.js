// The page shows what the API says, and decides nothing. This file asks the agent and draws the answer with the files beside it, which
// are sent before it in one script (CMakeLists.txt).

const kRefreshMs = 2000;
const kGiveUpMs = 8000;

const kExitTones = ['ok', 'warning', 'critical', 'unknown'];

function checkRow(check, meshes) {
  const tone = kExitTones[check.exit_code] ?? 'unknown';
  const why = check.detail ?? check.reason;
  const name = meshes.has(check.name) ? meshLink(check.name, check.name) : check.name;
  return element('tr', '', element('td', 'name', name), element('td', '', chip(tone, check.degraded ? 'degraded' : check.blind && check.state !== 'reported' ? 'blind' : check.state)),
    element('td', '', check.kind), element('td', 'wide', shown(why)), element('td', 'mono', age(check.since_ms)), element('td', 'mono', age(check.age_ms)));
}

// What is not well is shown first.
const cut = (total, shown, word) => total > shown ? element('p', 'soft', `and ${count(total - shown, word)} more: wardmote get ${word}s`) : null;

function checksCard(status) {
  if (!status.checks.length) return [];
  const meshes = new Set(status.meshes.map((one) => one.mesh));
  const gates = status.gates.map((gate) => chip(gate.ready ? 'ok' : 'critical', `${gate.name}${gate.ready ? '' : ': ' + gate.failing.join(', ')}`));
  return [element('section', 'card', element('div', 'top', element('h2', '', 'Checks and gates'), ...gates),
    table('Checks', [['Check'], ['State'], ['Kind'], ['Why'], ['Since'], ['Seen']], status.checks.map((one) => checkRow(one, meshes))),
    cut(status.totals.checks, status.checks.length, 'check'))];
}

const since = (at, now) => age(new Date(now) - new Date(at));

// One cause, closed until somebody asks for what belongs to it.
function incidentRow(incident, now) {
  const acknowledged = incident.acknowledged;
  const row = element('details', 'incident',
    keyed(element('summary', '', chip(incident.severity, incident.severity), element('strong', '', incident.root), element('span', '', incident.confirmed ? incident.summary : `${incident.summary} (as last seen; not confirmed since)`),
      element('span', 'soft', `for ${since(incident.since, now)}`),
      incident.flapping ? chip('warning', 'flapping') : null, incident.storm ? chip('warning', 'storm') : null,
      acknowledged ? element('span', 'soft', `acknowledged by ${acknowledged.by}${acknowledged.comment ? `: ${acknowledged.comment}` : ''}`) : null),
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

// Words, and links to what they are of.
function sentence(status) {
  const ill = status.clusters.filter((c) => c.verdict !== 'ok')
    .map((c) => c.findings.length ? `${c.cluster}: ${c.findings[0].summary}` : c.cluster);
  const told = new Set([...status.clusters.map((c) => c.cluster), ...status.meshes.map((m) => m.mesh)]);
  // An optional check that was never seen good may never come.
  const failing = status.checks.filter((c) => c.exit_code !== 0 && (c.seen_good || !c.optional) && !told.has(c.name)).map((c) => c.name);
  const others = status.checks.filter((c) => !told.has(c.name)).length + status.totals.checks - status.checks.length;
  const parts = [];
  if (status.incidents?.open) parts.push([count(status.incidents.open, 'open incident')]);
  if (status.clusters.length) parts.push([ill.length ? `${ill.length} of ${count(status.totals.clusters, 'cluster')} not well. ${ill.join('. ')}` : `${count(status.totals.clusters, 'cluster')} well`]);
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
