import { setTimeout as wait } from 'node:timers/promises';
import { GUARD_NAME } from './process-guard.js';
import type { ProcessRecord } from './process-record.js';
import {
  childrenOf,
  commandLine,
  currentBootId,
  hasInEnvironment,
  hasProc,
  listProcesses,
  recentProcesses,
  openTargets,
  readProcess,
  type ProcessEntry,
} from './process-table.js';

/** Name of the environment variable that marks everything a command starts. */
export const OPERATION_VARIABLE = 'STINT_OPERATION';

/** How a tree is recognised. */
export interface TreeIdentity {
  readonly processGroup: number;
  readonly operationId: string;
  readonly startTicks: number | null;
  /** Open-file targets that only this tree holds. */
  readonly targets?: readonly string[];
  /** True while the leader is a guard, which is given every orphan of the tree and ends by itself after the last process. */
  readonly isGuarded?: () => boolean;
}

/** What ending a tree came to. */
export interface EndReport {
  /** Processes that were told to end. */
  readonly ended: readonly number[];
  /** Processes that could not be ended (another user's, say). */
  readonly survivors: readonly number[];
}

const SAMPLE_FIRST_MS = 20;
const SAMPLE_LAST_MS = 500;
const POLL_MS = 15;
const KILL_PASSES = 200;
const QUICK_LOOKS = 100;

/** Sessions of the trees this process watches. None can be joined from outside, so their processes are each one's own. */
const watchedSessions = new Set<number>();

/**
 * Follows everything a command starts. Under a guard (`process-guard.ts`) the chain of parents never breaks, so nothing
 * can leave. Without one: by process group and session, by the chain of parents sampled while it runs and, on Linux, by
 * the operation id in the environment and by the files only this tree holds open; what has left all of these between two
 * samples is not seen.
 */
export class ProcessTree {
  readonly #identity: TreeIdentity;
  readonly #known = new Map<number, number>(); // pid -> start ticks
  #self: ProcessEntry | undefined;
  #timer: NodeJS.Timeout | undefined;
  #delayMs = SAMPLE_FIRST_MS;

  constructor(identity: TreeIdentity) {
    this.#identity = identity;
    this.#known.set(identity.processGroup, identity.startTicks ?? 0);
  }

  /** Starts to sample the chain of parents. `unwatch` must be called. */
  watch(): void {
    watchedSessions.add(this.#identity.processGroup);
    this.#timer = setTimeout(() => {
      const sampled = this.#sample().catch(() => {}); // the look at the end tells what is wrong
      void sampled.finally(() => {
        this.#delayMs = Math.min(this.#delayMs * 2, SAMPLE_LAST_MS);
        if (this.#timer !== undefined) this.watch();
      });
    }, this.#delayMs);
    this.#timer.unref();
  }

  unwatch(): void {
    watchedSessions.delete(this.#identity.processGroup);
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Living processes of the tree, the leader among them. */
  async living(): Promise<readonly ProcessEntry[]> {
    return (await this.#members()).filter(({ isZombie }) => !isZombie);
  }

  async #members(): Promise<readonly ProcessEntry[]> {
    const entries = await listProcesses();
    this.#self = entries.find(({ pid }) => pid === process.pid);
    const younger = entries.filter(({ startTicks }) => startTicks >= (this.#identity.startTicks ?? 0));
    const isGuarded = younger.some((entry) => !entry.isZombie && this.#isGuard(entry));
    return this.#withDescendants(younger, (entry) => this.#isKnown(entry) || (!isGuarded && this.#isMarked(entry)));
  }

  /**
   * Ends all of `living()` but what is spared: asks (TERM), waits `graceMs`, then kills until none is left. A guard is
   * not signalled: it ends after the others, and is waited for unless something is spared.
   * It returns when all are gone or, after about three seconds of killing, with those that are not.
   */
  async end(graceMs: number, isSpared?: (entry: ProcessEntry) => boolean): Promise<EndReport> {
    const isGuard = (entry: ProcessEntry) => this.#isGuard(entry);
    const look = async () => partition(await this.#members(), (entry) => isGuard(entry) || isSpared?.(entry) === true);
    const isOver = ({ left, spared }: Seen) => left.length === 0 && (isSpared !== undefined || !spared.some(isGuard));
    const ended = new Set<number>();
    const asked = await look();
    if (graceMs > 0 && asked.left.length > 0) {
      for (const { pid } of asked.left) ended.add(pid);
      this.#signal(asked, 'SIGTERM');
      await untilOver(look, isOver, graceMs);
    }
    let seen = await look();
    for (let pass = 0; pass < KILL_PASSES && !isOver(seen); pass += 1) {
      for (const { pid } of seen.left) ended.add(pid);
      this.#signal(seen.left.length > 0 ? seen : { ...seen, left: this.#orphansNow(seen) }, 'SIGKILL');
      await wait(POLL_MS);
      seen = await look();
    }
    if (seen.left.length === 0 && !isOver(seen)) this.#signalGuard(seen); // it has been stopped, say: it is of no use any more
    return { ended: [...ended], survivors: seen.left.map(({ pid }) => pid) };
  }

  /**
   * Signals what is left, and the groups it is in: only that reaches a child being forked at this moment. So it does the groups of
   * those that have just ended: in a chain whose links live shorter than one look takes, they are all that is seen. The group of
   * something spared, and the group and session of this very process, are never signalled.
   */
  #signal({ left, spared, gone }: Seen, name: NodeJS.Signals): void {
    const own = this.#self;
    const isForeign = ({ group, session }: ProcessEntry) =>
      group !== own?.group && (session === 0 || session !== own?.session);
    const groups = new Set([...left, ...gone].filter(isForeign).map(({ group }) => group));
    for (const { group } of spared) groups.delete(group);
    for (const group of groups) if (group > 1) signal(-group, name);
    for (const { pid } of left) signal(pid, name);
  }

  /**
   * Children of a guard at this moment. In a chain of processes of which each starts the next and ends, a link lives shorter than a look at
   * all processes takes; while the guard lives, something lives below it.
   */
  #orphansNow({ spared }: Seen): readonly ProcessEntry[] {
    const guards = spared.filter((entry) => this.#isGuard(entry));
    for (let attempt = 0; attempt < QUICK_LOOKS; attempt += 1) {
      const orphans = guards.flatMap(({ pid }) => childrenOf(pid).map(readProcess));
      const living = orphans.filter((entry) => entry !== undefined);
      if (living.length > 0) return living;
    }
    return [];
  }

  #signalGuard({ spared }: Seen): void {
    for (const { pid } of spared.filter((entry) => this.#isGuard(entry))) signal(pid, 'SIGKILL');
  }

  #isGuard({ pid, startTicks, name }: ProcessEntry): boolean {
    return (
      pid === this.#identity.processGroup &&
      this.#known.get(pid) === startTicks &&
      (this.#identity.isGuarded?.() ?? name === GUARD_NAME)
    );
  }

  async #sample(): Promise<void> {
    const entries = await recentProcesses(SAMPLE_FIRST_MS);
    this.#withDescendants(entries, (entry) => this.#isKnown(entry));
  }

  #isKnown({ pid, startTicks, group, session }: ProcessEntry): boolean {
    return this.#known.get(pid) === startTicks || this.#inGroup(group, session);
  }

  /** By environment and open files: looked at where the chain of parents may have been broken. */
  #isMarked({ pid, session }: ProcessEntry): boolean {
    if (!hasProc() || watchedSessions.has(session)) return false;
    const { operationId, targets = [] } = this.#identity;
    if (hasInEnvironment(pid, `${OPERATION_VARIABLE}=${operationId}`)) return true;
    return targets.length > 0 && openTargets(pid).some((target) => targets.includes(target));
  }

  #inGroup(group: number, session: number): boolean {
    return group === this.#identity.processGroup || session === this.#identity.processGroup;
  }

  /** Members and all their descendants, remembered for later. */
  #withDescendants(
    entries: readonly ProcessEntry[],
    isMember: (entry: ProcessEntry) => boolean,
  ): readonly ProcessEntry[] {
    const others = entries.filter(({ pid }) => pid !== process.pid && pid !== 1);
    const members = new Map(others.filter(isMember).map((entry) => [entry.pid, entry]));
    for (let grew = true; grew; ) {
      const children = others.filter(({ pid, parent }) => members.has(parent) && !members.has(pid));
      for (const child of children) members.set(child.pid, child);
      grew = children.length > 0;
    }
    for (const { pid, startTicks } of members.values()) this.#known.set(pid, startTicks);
    return [...members.values()];
  }
}

/**
 * Ends what a dead process of this host left running under a recorded group. Never hits a stranger that was given the
 * same number: after a reboot, or when the group's leader is another process now, only marked processes are ended.
 * @param graceMs time between TERM and KILL. @default 2_000
 */
export async function endProcesses(
  record: ProcessRecord,
  options: { readonly graceMs?: number } = {},
): Promise<EndReport> {
  if (record.bootId !== null && record.bootId !== currentBootId()) return { ended: [], survivors: [] };
  const leader = hasProc() ? readProcess(record.processGroup) : undefined;
  const reused = leader !== undefined && record.startTicks !== null && leader.startTicks !== record.startTicks;
  const processGroup = reused ? -1 : record.processGroup;
  return new ProcessTree({ ...record, processGroup }).end(options.graceMs ?? 2_000);
}

/** Up to three command lines, for a message about what was still running. */
export function describeProcesses(entries: readonly ProcessEntry[]): string {
  const lines = entries.map(({ pid }) => commandLine(pid).slice(0, 80) || `pid ${pid}`);
  return [...new Set(lines)]
    .slice(0, 3)
    .map((line) => `"${line}"`)
    .join(', ');
}

/** Processes of a tree: those to end, those that are spared, and those that have ended unnoticed by their parent. */
interface Seen {
  readonly left: readonly ProcessEntry[];
  readonly spared: readonly ProcessEntry[];
  readonly gone: readonly ProcessEntry[];
}

function partition(members: readonly ProcessEntry[], isSpared: (entry: ProcessEntry) => boolean): Seen {
  const living = members.filter(({ isZombie }) => !isZombie);
  return {
    left: living.filter((entry) => !isSpared(entry)),
    spared: living.filter(isSpared),
    gone: members.filter(({ isZombie }) => isZombie),
  };
}

async function untilOver(look: () => Promise<Seen>, isOver: (seen: Seen) => boolean, limitMs: number): Promise<void> {
  const end = performance.now() + limitMs;
  while (performance.now() < end && !isOver(await look())) await wait(POLL_MS);
}

function signal(target: number, name: NodeJS.Signals): void {
  try {
    process.kill(target, name);
  } catch {
    // gone, or not ours: what stays is reported as a survivor
  }
}
