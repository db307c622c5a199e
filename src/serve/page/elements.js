// What every part of the page is drawn with. Everything from the agent is set as text, never as markup.
'use strict';

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

const kTones = {ok: 'ok', warn: 'warning', fail: 'critical', unknown: 'unknown'};

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
