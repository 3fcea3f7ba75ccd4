// Takes each invariant of the ledger away, one at a time, and expects the random sequences of play.mjs to notice.
//   node bench/mutations.mjs [--sequences 1500] [--sample N --seed N] [--only name,name] [--check: only whether each applies]
// A mutation changes the compiled code of a copy of the package; one that no longer applies, or that no sequence notices, is a finding.
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { seededRandom } from './random.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** name, file of dist, what is there, what takes its place, how often it is there if more than once */
const mutations = [
  ['a stopped account admits', 'admission.js', "if (view.status !== 'stopped')", 'if (view.status)'],
  ['a closed account admits', 'admission.js', "if (view.status !== 'closed')", 'if (view.status)'],
  ['a backoff is not enforced', 'admission.js', 'driver.retryAfter <= facts.now', 'true'],
  ['a run has no limit', 'admission.js', 'facts.runRequests < limit', 'true'],
  ['attempts have no limit', 'admission.js', 'attempt.number <= attempt.maximum', 'true'],
  ['a deferral is not waited for', 'admission.js', 'attempt.retryAfter > facts.now', 'false'],
  [
    'one request too many',
    'admission.js',
    'level.sum.requests + 1 + protectedFor',
    'level.sum.requests + protectedFor',
  ],
  ['tokens and cost have no limit', 'admission.js', 'charged + asked + kept <= limit', 'true'],
  ['the estimate is not asked for', 'admission.js', 'charged + asked + kept <= limit', 'charged + kept <= limit'],
  ['protection is not kept', 'admission.js', 'charged + asked + kept <= limit', 'charged + asked <= limit'],
  ['what a kind used stays protected for it', 'admission.js', '?? 0, most) - charged);', '?? 0, most));'],
  ['a model without a price costs nothing', 'admission.js', 'return asked === null', 'return false'],
  ['requests at a time have no limit', 'admission.js', 'sum.open < limit', 'true'],
  ['windows have no limit', 'admission.js', '(charged ?? 0) + asked > limit', 'false'],
  [
    'an ancestor is not asked',
    'admission.js',
    'for (const level of accounts)',
    'for (const level of accounts.slice(0, 1))',
  ],
  ['a refusal stops although a hold may settle', 'admission.js', 'asking: !fitsWithoutHolds', 'asking: true'],
  ['a refusal stops nothing', 'reserve.js', 'if (!decision.stopsAsking)', 'if (true)'],
  ['a full ancestor is not stopped', 'reserve.js', 'if (decision.stopsFull && full', 'if (false && full'],
  ['a repeated id is held again', 'reserve.js', 'if (!inserted)', 'if (false)'],
  [
    'an ancestor is not charged',
    'tree.js',
    'for (const account of chain) {\n        account.kinds',
    'for (const account of chain.slice(-1)) {\n        account.kinds',
  ],
  ['windows are not filled', 'tree.js', 'if (account.limits.windows !== undefined)', 'if (false)'],
  [
    'an ancestor is not saved',
    'tree.js',
    "if (account.changed === 'data')",
    "if (account.changed === 'data' && account === chain[chain.length - 1])",
  ],
  ['a line is not chained', 'tree.js', 'leaf.head = yield*', 'yield*'],
  [
    'a clock that jumps back opens a new bucket',
    'windows.js',
    'latest = Math.max(latest, windows[key]?.startsAt ?? 0)',
    'latest = now',
  ],
  [
    'a settlement moves the present bucket',
    'settle.js',
    'addToChain(chain, before.kind, delta, before.reservedAt)',
    'addToChain(chain, before.kind, delta, ctx.now)',
  ],
  ['the charge of an unknown goes down', 'settle.js', 'Math.max(request.chargedTokens, counted)', 'counted'],
  [
    'the cost of an unknown goes down',
    'settle.js',
    'Math.max(request.chargedCostMicros ?? 0, costMicros ?? 0)',
    '(costMicros ?? 0)',
  ],
  ['an incomplete answer is reported', 'settle.js', "(input.complete || request.status === 'released')", 'true'],
  [
    'a settlement is booked twice',
    'settle.js',
    "if (before.status === 'reported')\n        return isSameOutcome(before, after) ? unchanged : conflict;",
    '',
  ],
  ['a request whose usage was reported is released', 'settle.js', ' || isMeasured(locked.request.usage)', ''],
  [
    'what is released can be released again',
    'settle.js',
    "request.status === 'reserved' || request.status === 'unknown'",
    'true',
  ],
  ['an open request can be reconciled', 'settle.js', "if (before.status === 'reserved')\n        return conflict;", ''],
  ['an overshoot stops nothing', 'settle.js', 'after.overshoot ? yield* stopOverspent', 'false ? yield* stopOverspent'],
  ['a released request stays charged', 'settle.js', 'chargedTokens: 0,', 'chargedTokens: request.chargedTokens,'],
  ['a released request is no request', 'totals.js', 'requests: 1,', "requests: request.status === 'released' ? 0 : 1,"],
  [
    'a settled hold stays held',
    'totals.js',
    'heldTokens: held ? request.chargedTokens : 0',
    'heldTokens: request.chargedTokens',
  ],
  ['extend does not compare', 'administration.js', 'if (leaf.revision !== input.revision)', 'if (false)', 2],
  ['lower goes below what is charged', 'administration.js', 'if (wanted >= floor)', 'if (true)'],
  ['a window is lowered below what it was charged', 'window-limits.js', 'if (cap >= charged)', 'if (true)'],
  [
    'resume does not ask again',
    'administration.js',
    'return refuseFailures(chain) ?? refuseSameAgain(ctx, chain, stop);',
    'return refuseFailures(chain);',
  ],
  [
    'resume forgets failures',
    'administration.js',
    'return refuseFailures(chain) ?? refuseSameAgain(ctx, chain, stop);',
    'return refuseSameAgain(ctx, chain, stop);',
  ],
  [
    'resume keeps backoffs',
    'administration.js',
    'retryAfter: 0 };',
    'retryAfter: leaf.drivers[driver]?.retryAfter ?? 0 };',
  ],
  [
    'a second stop replaces the first',
    'stop.js',
    "const isFirst = account.status === 'open'",
    "const isFirst = account.status !== 'closed'",
  ],
  ['a later stop does not abort', 'stop.js', 'reason.aborts &&', 'false &&'],
  ['failures stop nothing', 'failures.js', 'failures >= maximum;', 'false;'],
  ['failures are not counted', 'failures.js', '?.failures ?? 0) + 1', '?.failures ?? 0) * 0 + 1'],
  ['a success keeps the count', 'failures.js', 'delete leaf.drivers[driver];', ''],
  [
    'a run that continues is a new attempt',
    'subjects.js',
    'const begins = !isSameRun && !continues',
    'const begins = !isSameRun',
  ],
  ['a deferred attempt counts', 'subjects.js', 'deferrals <= mostDeferralsInARow', 'false'],
  ['attempts given by a person do not count', 'subjects.js', 'lowest + additions', 'lowest'],
  ['the dead are not recovered', 'recover.js', "request.status !== 'reserved' ||", 'true ||'],
  ['the living are recovered', 'recover.js', '!(yield* isOwnerDead(', '!(true || isOwnerDead(', 2],
  [
    'a revision is left out',
    'tree.js',
    'account.dataRevision += 1;',
    'account.dataRevision += account === chain[0] ? 2 : 1;',
  ],
  ['a limit of 0 admits what is estimated at nothing', 'admission.js', 'const isAny = limit > 0', 'const isAny = true'],
  ["a window's limit of 0 admits it", 'admission.js', 'limit === 0 || ', ''],
  ['a share of a limit is not exact', 'admission.js', 'Math.floor(((limit % 100) * percent) / 100)', '0'],
  ['a share of a limit is all of it', 'admission.js', 'protection.maxPercent ?? 100', '100'],
  [
    'tokens read from a cache are charged where they are not to be',
    'settle.js',
    'countedTokens(usage, rootOf(chain).accounting)',
    "countedTokens(usage, 'all')",
    2,
  ],
  [
    'a bill for what was released is not flagged',
    'settle.js',
    'discrepancy: request.discrepancy || isReleasedByProof(request)',
    'discrepancy: false',
    2,
  ],
  ['the cost of an unknown passes for measured', 'settle.js', 'unpriced: true,', 'unpriced: false,'],
  ['a cost that nobody knows passes for measured', 'settle.js', 'unpriced: costMicros === null', 'unpriced: false'],
  [
    'a full window tells a time that is over',
    'admission.js',
    'retryAfter: bounds.endsAt',
    'retryAfter: bounds.startsAt',
  ],
  [
    'a kind named as a member of Object is not summed',
    'tree.js',
    'ownValue(account.kinds, kind)',
    'account.kinds[kind]',
  ],
  ['a kind named as a member of Object is not verified', 'verify.js', 'ownValue(into, kind)', 'into[kind]'],
  ['a refusal that stops does not say so', 'reserve.js', 'stopped: true', 'stopped: false'],
];

/** What is wrong with a mutation's place in the code; undefined if it applies. */
function misplaced([, file, find, , times = 1]) {
  const found = readFileSync(join(here('../dist'), file), 'utf8').split(find).length - 1;
  return found === times ? undefined : `"${find}" is ${found} times in ${file}`;
}

/** Answers which sequence noticed, else what is wrong. */
async function tryMutation(mutation, { sequences, seed }) {
  const [, file, find, replace] = mutation;
  const wrong = misplaced(mutation);
  if (wrong !== undefined || values.check) return wrong ?? { noticed: 'none: only looked for' };
  const copy = mkdtempSync(join(tmpdir(), 'stint-mutant-'));
  try {
    copyFiles(here('../dist'), join(copy, 'dist'));
    copyFiles(here('../bench'), join(copy, 'bench'));
    symlinkSync(here('../node_modules'), join(copy, 'node_modules'));
    const path = join(copy, 'dist', file);
    const mutant = readFileSync(path, 'utf8').replaceAll(find, () => replace);
    writeFileSync(path, mutant);
    return await playMutant(join(copy, 'bench/play.mjs'), { sequences, seed });
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** The modules of a folder. */
function copyFiles(from, to) {
  mkdirSync(to);
  const modules = readdirSync(from).filter((name) => /\.m?js$/.test(name) && !name.includes('.test.'));
  for (const name of modules) copyFileSync(join(from, name), join(to, name));
}

function playMutant(script, { sequences, seed }) {
  const options = ['--sequences', String(sequences), '--seed', String(seed)];
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...options], { timeout: 300_000 }, (error, stdout, stderr) => {
      const sequence = /sequence (\d+) of seed/.exec(stderr)?.[1];
      if (error !== null && sequence !== undefined) resolve({ noticed: Number(sequence) + 1 });
      else
        resolve(
          error === null ? `no one of ${sequences} sequences noticed` : `it did not run: ${stderr.slice(0, 400)}`,
        );
    });
  });
}

const { values } = parseArgs({
  options: {
    sequences: { type: 'string', default: '1500' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    sample: { type: 'string' },
    only: { type: 'string' },
    check: { type: 'boolean', default: false },
  },
});
const random = seededRandom(Number(values.seed));
const shuffled = mutations
  .map((mutation) => ({ mutation, order: random() }))
  .sort((left, right) => left.order - right.order);
const chosen = (
  values.only === undefined
    ? shuffled
    : shuffled.filter(({ mutation: [name] }) => values.only.split(',').includes(name))
).slice(0, Number(values.sample ?? mutations.length));
let survived = 0;
for (const { mutation } of chosen) {
  const result = await tryMutation(mutation, { sequences: Number(values.sequences), seed: Number(values.seed) });
  const isNoticed = typeof result === 'object';
  if (!isNoticed) survived += 1;
  console.log(`${isNoticed ? `noticed by sequence ${result.noticed}` : `NOT NOTICED: ${result}`} · ${mutation[0]}`);
}
console.log(`${chosen.length} invariants taken away, ${survived} not noticed (seed ${values.seed})`);
process.exitCode = survived === 0 ? 0 : 1;
