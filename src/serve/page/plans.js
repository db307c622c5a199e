// Plans: what the agent would do, does and has done, and the orders that somebody may give.

const kPlanTones = {observed: 'info', proposed: 'warning', running: 'info', unclear: 'critical', done: 'ok', failed: 'critical', rejected: 'unknown', withdrawn: 'unknown'};
const kPlanWords = {
  observed: 'would be done', proposed: 'waits for approval', running: 'running', unclear: 'unclear', done: 'done', failed: 'failed',
  rejected: 'rejected', withdrawn: 'withdrawn',
};
const kStepTones = {waiting: 'unknown', begun: 'info', done: 'ok', failed: 'critical'};
const kStepMarks = {waiting: '○', begun: '▶', done: '✓', failed: '✕'};
const kStepWords = {
  confirm_quorum: 'the cluster can do without it', copy_database: 'its database is copied aside', kick: 'the leader removes it from the list',
  rejoin: 'it joins anew', confirm_dead: 'nothing speaks against it', inject_nmi: 'an NMI, and time to write a dump',
  destroy: 'its QEMU is ended', start: 'it is started', verify: 'it is as it should be',
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

// An order is given in two clicks: the first says in full what the second does. A double click is one click: the second button is on
// a line of its own, and deaf for a moment.
const kDeafMs = 700;

function orderButtons(plan) {
  const possible = {proposed: ['approve', 'reject'], unclear: ['approve', 'reject'], observed: ['reject'], running: ['reject']}[plan.state] ?? [];
  const allowed = possible.filter((verb) => may(kOrders[verb].least));
  const row = element('div', 'orders');
  const {verb: chosen, at} = asked.get(plan.id) ?? {};
  const button = (text, className, key, act) => {
    const made = keyed(element('button', className, text), `${key} ${plan.id}`);
    made.type = 'button';
    made.addEventListener('click', act);
    row.append(made);
    return made;
  };
  if (chosen !== undefined && allowed.includes(chosen)) {
    const words = chosen === 'reject' ? 'Yes, reject' : plan.state === 'unclear' ? 'Yes, do that step again' : 'Yes, begin';
    button('No', '', 'no', () => { asked.delete(plan.id); drawPlans(); });
    const yes = button(`${words}: ${plan.summary}`, 'grave', 'yes', () => { if (performance.now() - at >= kDeafMs) give(plan.id, chosen); });
    yes.disabled = performance.now() - at < kDeafMs;
  } else {
    for (const verb of allowed) button(kOrders[verb].word, '', verb, () => {
      asked.set(plan.id, {verb, at: performance.now()});
      replies.delete(plan.id);
      drawPlans();
      setTimeout(drawPlans, kDeafMs + 10);
    });
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
  return element('article', 'plan',
    element('div', 'head', chip(kPlanTones[plan.state] ?? 'unknown', kPlanWords[plan.state] ?? plan.state), element('strong', '', plan.summary),
      element('span', 'soft', `plan ${plan.id}, ${age(plan.age_ms)} ago`), plan.code ? element('code', '', plan.code) : null,
      plan.approver ? element('span', 'soft', `approved by ${plan.approver}`) : null),
    element('p', '', plan.why), plan.reason ? element('p', '', plan.reason) : null,
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
  // A policy that was told to act, and does not: somebody must know.
  const idle = answer.policies.filter((policy) => policy.mode === 'act' && !policy.acts);
  if (!open.length && !ended.length && !answer.refusals.length && !answer.pauses.length && !idle.length) return [];
  return [element('section', 'card', element('div', 'top', element('h2', '', 'Plans'),
    answer.frozen ? chip('critical', answer.frozen) : null,
    ...answer.pauses.map((one) => chip('warning', `${one.scope === 'all' ? 'everything' : one.scope} is paused by ${one.by}${one.until ? ` until ${new Date(one.until).toLocaleString()}` : ''}`))),
  ...idle.map((policy) => element('p', 'refusal', chip('warning', 'only observes'), ' ', policy.reason)),
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
