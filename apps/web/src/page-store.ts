import type {
  AgentPresence,
  BridgeToBrowserFrame,
  ExecutionControl,
  OperationInput,
  OperationName,
  OperationOutput,
  Progress,
  ResponseFrame,
  WorkItemDetail,
  WorkItemSummary,
} from '@stint/contracts';
import { Connection, type ConnectionPort, type ConnectionState, RequestError } from './connection.js';

/**
 * All that the page knows, in one immutable snapshot; no React in here.
 *
 * 1. An older DTO never replaces a newer one: items are ordered by `progressRevision`, budgets by `version`.
 * 2. An event of the open item makes it be read again, one read at a time; what arrives meanwhile makes one more.
 * 3. Answers for an item that is no longer open are dropped.
 */
export interface PageState {
  readonly connection: ConnectionState;
  readonly agents: readonly AgentPresence[];
  readonly board: ReadonlyMap<string, WorkItemSummary>;
  readonly boardLoaded: boolean;
  readonly openId: string | null;
  readonly item: WorkItemDetail | null;
  /** What goes on this moment, by Action id; '' is the Coordinator. */
  readonly progress: ReadonlyMap<string, Progress>;
  /** Last trouble worth a line; null when there is none. */
  readonly trouble: string | null;
}

const nothing: PageState = {
  connection: 'connecting',
  agents: [],
  board: new Map(),
  boardLoaded: false,
  openId: null,
  item: null,
  progress: new Map(),
  trouble: null,
};

type Command = {
  readonly [N in OperationName]: OperationOutput<N> extends { item: WorkItemDetail } ? N : never;
}[OperationName];

export class PageStore {
  #state = nothing;
  readonly #listeners = new Set<() => void>();
  readonly #connection: Connection;
  #attachGeneration = 0;
  #reading = false;
  #readAgain = false;

  constructor(port: ConnectionPort) {
    this.#connection = new Connection(port, {
      onState: (connection) => this.#onState(connection),
      onFrame: (frame) => this.#onFrame(frame),
      onUnreadable: (trouble) => this.#set({ trouble }),
    });
  }

  readonly snapshot = (): PageState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  close(): void {
    this.#connection.close();
  }

  /** Asks a query; see `Connection.request`. */
  ask<N extends OperationName>(operation: N, input: OperationInput<N>): Promise<OperationOutput<N>> {
    return this.#connection.request(operation, input);
  }

  /**
   * Gives a command. The answer's item is shown at once, also when the command came too late.
   * @returns why nothing was changed, or null when it was.
   */
  async command<N extends Command>(
    operation: N,
    input: OperationInput<N>,
  ): Promise<{ itemId: string; conflict: string | null }> {
    const result = (await this.#connection.request<N>(operation, input)) as OperationOutput<'start'>;
    this.#takeItem(result.item);
    return { itemId: result.item.id, conflict: result.conflict?.message ?? null };
  }

  /** Shows an item, or none; events of it are then followed. */
  open(itemId: string | null): void {
    if (itemId === this.#state.openId) return;
    this.#set({ openId: itemId, item: null, progress: new Map(), trouble: null });
    this.#attach();
    this.#readItem();
  }

  #attach(): void {
    const { openId, item } = this.#state;
    const since = item ? { since: item.lastEventSeq, storeId: item.storeId } : { since: null };
    this.#attachGeneration += 1;
    this.#connection.attach({
      type: 'attach',
      generation: this.#attachGeneration,
      board: true,
      items: openId ? [{ itemId: openId, ...since }] : [],
    });
  }

  #onState(connection: ConnectionState): void {
    this.#set({ connection });
  }

  #onFrame(frame: Exclude<BridgeToBrowserFrame, ResponseFrame>): void {
    if (frame.type === 'hello') {
      this.#set({ agents: frame.agents });
      this.#attach();
      this.#readAll();
    } else if (frame.type === 'presence') this.#onPresence(frame.agents);
    else if (frame.type === 'resync') this.#readAll();
    else if (frame.type === 'event') {
      if (frame.event.summary) this.#takeSummary(frame.event.summary);
      if (frame.event.itemId === this.#state.openId) this.#readItem();
    } else if (frame.type === 'progress') this.#takeProgress(frame.progress);
  }

  #onPresence(agents: readonly AgentPresence[]): void {
    const cameBack = agents.some(
      (agent) => agent.online && !this.#state.agents.some(({ id, online }) => id === agent.id && online),
    );
    this.#set({ agents });
    if (cameBack) this.#readAll();
  }

  #readAll(): void {
    this.#readBoard().catch((error: unknown) => this.#report(error));
    this.#readItem();
  }

  async #readBoard(): Promise<void> {
    let cursor: string | null = null;
    do {
      const page: OperationOutput<'list'> = await this.ask('list', cursor === null ? {} : { cursor });
      for (const summary of page.items) this.#takeSummary(summary);
      cursor = page.nextCursor;
    } while (cursor !== null);
    this.#set({ boardLoaded: true });
  }

  #readItem(): void {
    const { openId } = this.#state;
    if (openId === null) return;
    if (this.#reading) {
      this.#readAgain = true;
      return;
    }
    this.#reading = true;
    this.ask('get', { itemId: openId })
      .then((item) => this.#takeItem(item))
      .catch((error: unknown) => this.#report(error))
      .finally(() => {
        this.#reading = false;
        if (!this.#readAgain) return;
        this.#readAgain = false;
        this.#readItem();
      });
  }

  #takeItem(item: WorkItemDetail): void {
    const { openId, item: shown } = this.#state;
    if (item.id !== openId) return;
    if (shown?.id === item.id && shown.revisions.progressRevision > item.revisions.progressRevision) return;
    const control = shown && isNewer(shown.control, item.control) ? shown.control : item.control;
    this.#set({ item: { ...item, control }, trouble: null });
  }

  #takeSummary(summary: WorkItemSummary): void {
    const known = this.#state.board.get(summary.id);
    if (known && known.revisions.progressRevision > summary.revisions.progressRevision) return;
    this.#set({ board: new Map(this.#state.board).set(summary.id, summary) });
  }

  #takeProgress(progress: Progress): void {
    const { openId, item } = this.#state;
    if (progress.itemId !== openId) return;
    const known = this.#state.progress.get(progress.actionId ?? '');
    if (known && known.at > progress.at) return;
    this.#set({ progress: new Map(this.#state.progress).set(progress.actionId ?? '', progress) });
    if (item && progress.control && isNewer(progress.control, item.control))
      this.#set({ item: { ...item, control: progress.control } });
  }

  #report(error: unknown): void {
    this.#set({ trouble: error instanceof RequestError ? error.message : String(error) });
  }

  #set(change: Partial<PageState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** True if `a` holds later budget figures than `b`. */
const isNewer = (a: ExecutionControl, b: ExecutionControl): boolean =>
  a.version[0] > b.version[0] || (a.version[0] === b.version[0] && a.version[1] > b.version[1]);
