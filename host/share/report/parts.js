// SPDX-License-Identifier: Apache-2.0
// Small pieces that several sections show: verdicts, contestants with their colour.
const VERDICT_MARKS = {
  BETTER: '\u2713',
  WORSE: '\u2715',
  EQUIVALENT: '\u2248',
  INCONCLUSIVE: '?'
};

function chip(pair) {
  const verdict = pair.rows ? pair.verdict : 'NO_ANSWERS', mark = VERDICT_MARKS[verdict];
  return el(
      'span', {class: 'chip ' + (mark ? verdict : 'plain-verdict')},
      mark ? el('span', {'aria-hidden': 'true'}, mark) : null, verdict.replaceAll('_', ' '));
}

function dot(contestant) {
  return el('span', {class: 'dot', style: {background: contestant.colour}, 'aria-hidden': 'true'});
}

function who(contestant) {
  return el(
      'span', {class: 'who'}, dot(contestant),
      el('span', {title: contestant.label}, contestant.label));
}

function callout(text, bad) { return el('p', {class: 'callout' + (bad ? ' bad' : '')}, text); }

function notesList(notes) {
  return notes.length ? el('ul', {class: 'notes'}, notes.map(note => el('li', {}, note))) : null;
}

function tableOf(headings, rows, className) {
  return el(
      'div', {class: 'scroll'},
      el('table', {class: className},
         el('thead', {},
            el('tr', {},
               headings.map(
                   h => el('th', {scope: 'col', class: h.right ? 'right' : null}, h.text)))),
         el('tbody', {}, rows)));
}
