// BGP meshes: what each daemon says of its sessions with the others.

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
