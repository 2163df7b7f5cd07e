// SPDX-License-Identifier: Apache-2.0
// Where the numbers come from: versions, digests, options, machine, jobs and how verdicts are made.
function fact(name, value, mono) {
  return value === '' || value === undefined || value === null ?
      null :
      [el('dt', {}, name), el('dd', {class: mono ? 'mono' : null}, value)];
}

// Only the options in which contestants of one plugin may differ are worth reading side by side.
function optionWords(contestant) {
  const entries = Object.entries(contestant.facts.options || {});
  const differs = ([key, value]) => contestants.some(
      c => c !== contestant && c.facts.options && key in c.facts.options &&
          JSON.stringify(c.facts.options[key]) !== JSON.stringify(value));
  const word = ([key, value]) =>
      key + '=' + (typeof value === 'string' ? value : JSON.stringify(value));
  const own = entries.filter(differs), rest = entries.filter(entry => !differs(entry));
  return el(
      'td', {class: 'wide mono'}, own.length ? el('strong', {}, own.map(word).join(' ')) : null,
      own.length && rest.length ? ' ' : null,
      el('span', {class: 'faint'}, rest.map(word).join(' ')), entries.length ? null : '\u2013');
}

function contestantTable() {
  return tableOf(
      [
        {text: 'contestant'}, {text: 'plugin'}, {text: 'repeatable'}, {text: 'library'},
        {text: 'options'}
      ],
      contestants.map(
          c =>
              el('tr', {}, el('td', {}, who(c)),
                 el('td', {}, c.facts.plugin + ' ' + c.facts.plugin_version),
                 el('td', {}, c.facts.determinism || '\u2013'),
                 el('td', {class: 'mono', title: c.facts.library_sha256},
                    c.facts.library_sha256.replace(/^sha256:/, '').slice(0, 12) || '\u2013'),
                 optionWords(c))));
}

function taskTable() {
  const short = digest => digest.replace(/^sha256:/, '').slice(0, 12);
  return tableOf(
      [
        {text: 'task'}, {text: 'workloads', right: true}, {text: 'groups', right: true},
        {text: 'split'}, {text: 'task digest'}, {text: 'dataset'}
      ],
      comparison.tasks.map(
          t =>
              el('tr', {}, el('td', {title: t.file}, t.task),
                 el('td', {class: 'right'}, t.workloads.toLocaleString('en')),
                 el('td', {class: 'right'}, t.groups.toLocaleString('en')),
                 el('td', {class: 'wide'}, t.split),
                 el('td', {class: 'mono', title: t.hash}, short(t.hash)),
                 el('td', {}, t.dataset + ' ',
                    el('span', {class: 'mono faint', title: t.dataset_digest},
                       short(t.dataset_digest))))));
}

function jobWords() {
  const jobs = comparison.jobs, failed = jobs.filter(j => j.outcome !== 'OK').length,
        reused = jobs.filter(j => j.reused).length;
  return plural(jobs.length, 'job') +
      (failed ? ', ' + failed + ' did not finish' : ', all finished') +
      (reused ? ', ' + reused + ' kept from an earlier run' : '');
}

function machineWords() {
  const {processor, cores, memory_bytes: memory, ...rest} = comparison.machine || {};
  const others = Object.values(rest).filter(v => typeof v === 'string' || typeof v === 'number');
  return [processor, cores ? plural(cores, 'core') : '', memory ? bytes(memory) : '', ...others]
      .filter(Boolean)
      .join(', ');
}

function methodNotes() {
  const rope = [...new Set(comparison.tasks.map(t => number(t.rope * 100)))].join(' or ');
  const intervals = [...new Set(comparison.pairs.map(p => p.interval).filter(Boolean))].join(', ');
  return el(
      'details', {}, el('summary', {}, 'How the verdicts are made'),
      el('p', {},
         'Losses are paired by workload. The interval of the paired difference ' +
             'comes from a bootstrap that draws whole groups, because workloads of ' +
             'one group are not independent' + (intervals ? ' (' + intervals + ')' : '') +
             '. The p value is a Wilcoxon signed-rank test on the groups, adjusted ' +
             'by Holm over all pairs and targets.'),
      el('p', {},
         'EQUIVALENT: the interval lies inside \u00b1' + rope +
             '\u00a0% of the baseline\u2019s loss. BETTER or WORSE: otherwise, the ' +
             'interval excludes 0 and the adjusted p is below 0.05. INCONCLUSIVE: ' +
             'neither. With fewer than six groups only differences are given.'),
      el('p', {},
         'Refused and lost workloads are counted in coverage and left out of the ' +
             'pairing. Targets are withheld from predictors; everything that is ' +
             'fitted is fitted inside its fold.'));
}

function setUpProvenance(parent) {
  const part = section('provenance', 'Provenance', 'What is needed to repeat this comparison.');
  fill(
      part.body,
      el('dl', {class: 'facts-grid'}, fact('Command', comparison.command_line, true),
         fact(
             'Repeat',
             comparison.directory ? 'omen rerun ' + comparison.directory + '/run.json' : '', true),
         fact('Omen', comparison.revision, true), fact('Machine', machineWords()),
         fact(
             'Threads', comparison.threads ? String(comparison.threads) : 'as each plugin decides'),
         fact('Seed', String(comparison.seed)), fact('Jobs', jobWords())),
      el('div', {style: {'margin-top': '18px'}}, contestantTable()),
      el('div', {style: {'margin-top': '18px'}}, taskTable()), methodNotes());
  parent.append(part.node);
}
