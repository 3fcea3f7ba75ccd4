import type { IdSource } from './context.js';
import type { Engine } from './engine.js';
import { hostIdentity, startIdentity } from './host.js';
import {
  endHeartbeat,
  endProcesses,
  openProcesses,
  type ProcessRecord,
  type ProcessVerdict,
  registerProcess,
  renewHeartbeat,
} from './processes.js';

export interface HeartbeatOptions {
  readonly role: string;
  readonly ids: IdSource;
  readonly leaseMs: number;
  readonly onLost: (lost: { readonly owner: string; readonly newOwner: string }) => void;
}

/**
 * The heartbeat row of this process. States: *unregistered* until the first write, so that opening and reading a store
 * write nothing; *registered*; *ended* by `end`. Invariants:
 * 1. `ensure` comes before each write, and with it the row is there and lasts on, as far as this process can know.
 * 2. A row that others ended is never revived: the process goes on under a new id and is told (`onLost`).
 * 3. A row that merely expired, after a suspend for example, is taken again by its own process.
 */
export class Heartbeat {
  readonly #engine: Engine;
  readonly #options: HeartbeatOptions;
  readonly #host = hostIdentity();
  #expiresAt: number | null = null;
  #renewal: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;
  lastError: string | null = null;

  constructor(engine: Engine, options: HeartbeatOptions) {
    this.#engine = engine;
    this.#options = options;
    engine.owner = options.ids();
  }

  get expiresAt(): number | null {
    return this.#expiresAt;
  }

  /** True when `ensure` has to be awaited before a write. */
  get due(): boolean {
    return this.#expiresAt === null || this.#engine.clock() >= this.#expiresAt;
  }

  /** Registers, renews, or registers again; callers at the same time share one renewal. */
  ensure(): Promise<void> {
    this.#renewal ??= this.#renewOrRegister().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  /** See `Database.endDeadProcesses`. */
  async sweep(): Promise<number> {
    const late = this.#expiresAt !== null && this.due;
    await this.ensure();
    const { now, open } = await this.#engine.readQuietly(openProcesses);
    const verdict = this.#judge(open, now, late);
    if (verdict.gone.length + verdict.expired.length + verdict.spared.length === 0) return 0;
    return this.#engine.writeQuietly((ctx) => endProcesses(ctx, verdict, this.#options.leaseMs));
  }

  async end(): Promise<void> {
    this.#ended = true;
    clearInterval(this.#timer);
    await this.#renewal?.catch(() => undefined); // reported to whoever awaited it
    const id = this.#engine.owner;
    if (this.#expiresAt !== null) await this.#engine.writeQuietly((ctx) => endHeartbeat(ctx, id));
  }

  async #renewOrRegister(): Promise<void> {
    const { leaseMs, onLost } = this.#options;
    const owner = this.#engine.owner;
    if (this.#expiresAt === null) return this.#register();
    this.#expiresAt = (await this.#engine.writeQuietly((ctx) => renewHeartbeat(ctx, owner, leaseMs))) ?? null;
    if (this.#expiresAt !== null) return;
    this.#engine.owner = this.#options.ids();
    onLost({ owner, newOwner: this.#engine.owner });
    await this.#register();
  }

  async #register(): Promise<void> {
    const { role, leaseMs } = this.#options;
    const { pid } = process;
    const self = { id: this.#engine.owner, role, host: this.#host, pid, startIdentity: startIdentity(pid) ?? '' };
    this.#expiresAt = await this.#engine.writeQuietly((ctx) => registerProcess(ctx, self, leaseMs));
    if (this.#ended || this.#timer !== undefined) return;
    this.#timer = setInterval(() => void this.#beat(), Math.max(1, Math.floor(leaseMs / 3))).unref();
  }

  async #beat(): Promise<void> {
    try {
      await this.ensure();
      this.lastError = null;
    } catch (error) {
      this.lastError = error instanceof Error ? error.message : String(error); // shown by health(); the next beat tries again
    }
  }

  /**
   * Processes of this host are looked up by number and start time, others judged by their expiry. When this process
   * itself was late, the host was probably suspended: its other processes that live get the time to renew.
   */
  #judge(open: readonly ProcessRecord[], now: number, late: boolean): ProcessVerdict {
    const verdict = { gone: [] as string[], expired: [] as string[], spared: [] as string[] };
    for (const row of open) {
      if (row.id === this.#engine.owner) continue;
      const here = row.host === this.#host && row.startIdentity !== '' ? startIdentity(row.pid) : null;
      if (here !== null && here !== row.startIdentity) verdict.gone.push(row.id);
      else if (row.expiresAt <= now) (late && here !== null ? verdict.spared : verdict.expired).push(row.id);
    }
    return verdict;
  }
}
