/** Figures of interleaved rounds: one of each in turn, so that a slow moment of the machine hits both. */
export async function interleaved(rounds, first, second) {
  const times = { first: [], second: [] };
  for (let round = 0; round < rounds; round += 1) {
    times.first.push(await first(round));
    times.second.push(await second(round));
  }
  return { first: median(times.first), second: median(times.second) };
}

export function median(values) {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)];
}

export function quantile(values, share) {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** Microseconds for one of `count` calls, one after the other. */
export async function timeEach(count, call) {
  const start = performance.now();
  for (let index = 0; index < count; index += 1) await call(index);
  return ((performance.now() - start) * 1000) / count;
}

/**
 * Times several calls in interleaved rounds, the order turned by one in each.
 * @returns by name, the medians of microseconds for a call: `elapsed`, and `processor` (user and system time of this process, which other
 *   processes of a busy machine lengthen less)
 */
export async function measureAll(rounds, count, calls) {
  const names = Object.keys(calls);
  const times = Object.fromEntries(names.map((name) => [name, { elapsed: [], processor: [] }]));
  for (const name of names) await timeEach(count, calls[name]);
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < names.length; turn += 1) {
      const name = names[(round + turn) % names.length];
      const before = process.cpuUsage();
      times[name].elapsed.push(await timeEach(count, calls[name]));
      const { user, system } = process.cpuUsage(before);
      times[name].processor.push((user + system) / count);
    }
  }
  const medians = ({ elapsed, processor }) => ({ elapsed: median(elapsed), processor: median(processor) });
  return Object.fromEntries(names.map((name) => [name, medians(times[name])]));
}

/** A row for `npm run bench`; `ratio` is better the higher it is unless the target begins with '<='. */
export function row(name, { value, unit, baseline, ratio, target }) {
  const wanted = Number(/[\d.]+/u.exec(target)[0]);
  const met = target.startsWith('<=') ? ratio <= wanted : ratio >= wanted;
  return { name, value, unit, baseline, ratio, target, met };
}

let last = 0;

/** A new id, later in order than the ones before, as a UUIDv7 is. */
export function nextId() {
  last += 1;
  return `01930000-${String(last).padStart(12, '0')}-7000-8000-00000000`;
}
