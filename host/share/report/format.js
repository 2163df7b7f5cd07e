// SPDX-License-Identifier: Apache-2.0
// Numbers as the terminal's report rounds them, with a real minus sign.
const MINUS = '\u2212';

function isNumber(value) { return typeof value === 'number' && Number.isFinite(value); }

function placesFor(size) {
  if (!size) return 0;
  return Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(size))));
}

function fixed(value, places, sign) {
  const text = Math.abs(value).toFixed(places);
  const zero = Number(text) === 0;
  return (value < 0 && !zero ? MINUS : sign && !zero ? '+' : '') + text;
}

function number(value, sign) {
  if (!isNumber(value)) return '\u2013';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(2).replace('-', MINUS);
  return fixed(value, placesFor(size), sign);
}

function quantity(value, unit) {
  const text = number(value);
  return unit && unit !== '1' && isNumber(value) ? text + '\u00a0' + unit : text;
}

function change(pair) {
  if (!pair.rows || !isNumber(pair.difference)) return 'no paired workloads';
  const unit = pair.loss_unit === '%' ? 'pp' : pair.loss_unit === '1' ? '' : pair.loss_unit;
  const hasInterval = isNumber(pair.lo) && isNumber(pair.hi);
  const size = Math.max(
      Math.abs(pair.difference), hasInterval ? Math.max(Math.abs(pair.lo), Math.abs(pair.hi)) : 0);
  const small = size !== 0 && (size < 1e-4 || size >= 1e9);
  const one = v => small ? v.toExponential(2).replace('-', MINUS) : fixed(v, placesFor(size), true);
  return one(pair.difference) + (unit ? '\u00a0' + unit : '') +
      (hasInterval ? ' [' + one(pair.lo) + ', ' + one(pair.hi) + ']' : '');
}

function relative(share) {
  if (!isNumber(share)) return '\u2013';
  const percent = share * 100;
  return fixed(percent, Math.abs(percent) < 10 ? 1 : 0, true) + '\u00a0%';
}

function probability(p) {
  if (!isNumber(p)) return '\u2013';
  return p < 0.0001 ? '<\u20090.0001' : p.toFixed(p < 0.1 ? 4 : 2);
}

function duration(seconds) {
  if (!isNumber(seconds)) return '\u2013';
  if (seconds < 0.9995) return (seconds * 1e3).toFixed(seconds < 0.01 ? 1 : 0) + '\u00a0ms';
  if (seconds < 59.95) return seconds.toFixed(1) + '\u00a0s';
  const whole = Math.round(seconds);
  return whole < 3600 ?
      Math.floor(whole / 60) + '\u00a0min\u00a0' + String(whole % 60).padStart(2, '0') + '\u00a0s' :
      Math.floor(whole / 3600) + '\u00a0h\u00a0' +
          String(Math.floor(whole / 60) % 60).padStart(2, '0') + '\u00a0min';
}

function bytes(count) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  while (count >= 1000 && unit + 1 < units.length) {
    count /= 1000;
    unit++;
  }
  return count.toFixed(unit === 0 || count >= 100 ? 0 : 1) + '\u00a0' + units[unit];
}

function plural(count, noun) {
  return count.toLocaleString('en') + ' ' + noun + (count === 1 ? '' : 's');
}
