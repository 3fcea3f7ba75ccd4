import { accountOf } from '@stint/coordinator';
import {
  type ActionDetail,
  DTO_LIMITS,
  type Event,
  type ExecutionControl,
  type OperationOutput,
  type WorkItemDetail,
  type WorkItemSummary,
} from '@stint/contracts';
import { listRequests, snapshotAccount } from '@stint/ledger';
import {
  createRedactor,
  type EventRecord,
  type FragmentStore,
  type ProjectionOptions,
  toActionDetail,
  toEvent,
  toExecutionControl,
  toWorkItemDetail,
  toWorkItemSummary,
  type WorkItemSources,
} from '@stint/projection';
import type { Context, Database, Transaction } from '@stint/storage';
import {
  countItems,
  findItemIds,
  getWorkItem,
  hasFreshEvents,
  lastBoardSeq,
  listWorkItems,
  numberEvents,
  readBoardEvents,
  readEvents,
  type WorkEvent,
  workChannel,
} from '@stint/work-items';
import { readActionSources } from './action-sources.js';
import { WireRefusal } from './bridge-link.js';
import { usageFailure } from './failure.js';
import { uniqueId } from './id-prefix.js';
import { readItemSources } from './item-sources.js';

/** Everything that is read for a person, by the command line and by the page alike: records in one snapshot, then the projection. */
export class ItemReader {
  readonly #db: Database;
  readonly storeId: string;
  /** What was made of each Action of the items looked at last, so that the next detail makes only what changed. */
  readonly #fragments = new Map<string, FragmentStore>();

  readonly #redaction: ProjectionOptions;

  /** @param redaction the agent's own keys, and directories that no browser is to see */
  constructor(db: Database, storeId: string, redaction: ProjectionOptions) {
    this.#db = db;
    this.storeId = storeId;
    this.#redaction = redaction;
  }

  /** Calls back after every change of an item, here or in another process. */
  onChange(listener: () => void): () => void {
    return this.#db.listen(workChannel, listener);
  }

  /** The whole id that begins with `prefix`. @throws CommandFailure (usage) if there is none, or more than one */
  async itemId(prefix: string): Promise<string> {
    if (!/^[\w-]+$/.test(prefix)) throw usageFailure(`"${prefix}" is no id of a work item. \`stint list\` shows them.`);
    return uniqueId(prefix, await this.#db.read((ctx) => findItemIds(ctx, prefix, 6)), 'work item');
  }

  /** @throws WireRefusal `not_found` */
  async detail(itemId: string, options: DetailRequest = {}): Promise<WorkItemDetail> {
    const sources = await this.#db.read((ctx) => sourcesOf(ctx, this.storeId, { itemId, ...options }));
    return this.#toDetail(sources, options);
  }

  /** The item and its events after `since`, of the same instant. */
  async detailSince(itemId: string, since: number): Promise<{ item: WorkItemDetail; events: readonly EventRecord[] }> {
    const { storeId } = this;
    const { sources, events } = await this.#db.read(function* (ctx) {
      const read = yield* sourcesOf(ctx, storeId, { itemId });
      return { sources: read, events: yield* readEvents(ctx, { itemId, since, limit: DTO_LIMITS.maxEventsPerPage }) };
    });
    return { item: this.#toDetail(sources, {}), events };
  }

  /** One page of the board, newest first. */
  async page(options: {
    readonly cursor?: string | undefined;
    readonly limit?: number | undefined;
  }): Promise<OperationOutput<'list'>> {
    const limit = Math.min(options.limit ?? DTO_LIMITS.maxItemsPerPage, DTO_LIMITS.maxItemsPerPage);
    const { storeId } = this;
    const { items, more, totalCount } = await this.#db.read(function* (ctx) {
      const found = yield* listWorkItems(ctx, {
        limit: limit + 1,
        ...(options.cursor ? { before: options.cursor } : {}),
      });
      const sources: WorkItemSources[] = [];
      for (const { id } of found.slice(0, limit)) sources.push(yield* sourcesOf(ctx, storeId, { itemId: id }));
      return { items: sources, more: found.length > limit, totalCount: yield* countItems(ctx) };
    });
    const last = items.at(-1)?.records.item.id ?? null;
    return {
      storeId: this.storeId,
      items: items.map((one) => toWorkItemSummary(one, this.#redaction)),
      totalCount,
      nextCursor: more ? last : null,
    };
  }

  /** All items, newest first, a page at a time. */
  async *summaries(): AsyncGenerator<WorkItemSummary> {
    let cursor: string | undefined;
    do {
      const page = await this.page({ cursor });
      yield* page.items;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Events of one item after `since`; more than a page means `resync`. */
  async events(itemId: string, since: number): Promise<OperationOutput<'read_events'>> {
    const limit = DTO_LIMITS.maxEventsPerPage;
    const found = await this.#db.read((ctx) => readEvents(ctx, { itemId, since, limit: limit + 1 }));
    const resync = found.length > limit;
    const events = resync
      ? []
      : found.map(
          (event): Event =>
            toEvent({ storeId: this.storeId, event, summary: null }, { ...this.#redaction, workspaceRoot: null }),
        );
    return { storeId: this.storeId, events, resync };
  }

  /**
   * Events of all items after board number `since`, oldest first, at most a page; the last of each item carries the item's summary.
   * @param options.bare without summaries, for when one cannot be made: events are not held up by it
   */
  async boardEvents(
    since: number,
    options: { readonly bare?: boolean } = {},
  ): Promise<{ readonly events: readonly Event[]; readonly lastSeq: number }> {
    const { storeId } = this;
    const redaction = this.#redaction;
    await this.#numberEvents();
    return await this.#db.read(function* (ctx) {
      const found = yield* readBoardEvents(ctx, { since, limit: DTO_LIMITS.maxEventsPerPage });
      const newest = new Map(found.map((event) => [event.itemId, event]));
      const summaries = new Map<WorkEvent, WorkItemSummary>();
      for (const event of options.bare ? [] : newest.values())
        summaries.set(event, toWorkItemSummary(yield* sourcesOf(ctx, storeId, { itemId: event.itemId }), redaction));
      const events = found.map((event) =>
        toEvent({ storeId, event, summary: summaries.get(event) ?? null }, { ...redaction, workspaceRoot: null }),
      );
      return { events, lastSeq: found.at(-1)?.boardSeq ?? since };
    });
  }

  /** The item's budget at this moment, and whether the item runs. */
  async budget(itemId: string): Promise<{ readonly control: ExecutionControl; readonly isRunning: boolean }> {
    const { account, item } = await this.#db.read(function* (ctx) {
      return { item: yield* getWorkItem(ctx, itemId), account: yield* snapshotAccount(ctx, accountOf(itemId)) };
    });
    return { control: toExecutionControl(account), isRunning: item?.status === 'running' };
  }

  /** Requests of an item that nobody knows the end of, at most a hundred; they count as spent until the provider's bill says otherwise. */
  async unknownRequests(itemId: string): Promise<readonly UnknownRequest[]> {
    const found = await this.#db.read((ctx) => listRequests(ctx, accountOf(itemId), { flag: 'unknown' }));
    return found.map(({ id, model, chargedTokens }) => ({
      id,
      model,
      tokens: chargedTokens,
      command: `stint resolve ${id} --not-billed`,
    }));
  }

  /** One Action with its attempts. @throws WireRefusal `not_found` */
  async action(itemId: string, actionId: string): Promise<ActionDetail> {
    const found = await this.#db.read((ctx) => readActionSources(ctx, itemId, actionId));
    if (found === undefined)
      throw new WireRefusal('not_found', `There is no Action ${actionId} in work item ${itemId}.`);
    return toActionDetail(found.sources, { ...this.#redaction, workspaceRoot: found.workDir });
  }

  /** A text of an item's Run without secrets and without paths outside of its work directory. */
  async redactFor(itemId: string, text: string): Promise<string> {
    if (text === '') return '';
    const item = await this.#db.read((ctx) => getWorkItem(ctx, itemId));
    return createRedactor({ ...this.#redaction, workspaceRoot: item?.workDir ?? null }).redact(text);
  }

  /** Board number of the last event. */
  async lastBoardSeq(): Promise<number> {
    await this.#numberEvents();
    return await this.#db.read((ctx) => lastBoardSeq(ctx));
  }

  /** Opens a write only where there is an event to number. */
  async #numberEvents(): Promise<void> {
    while (await this.#db.read(hasFreshEvents)) await this.#db.write((ctx) => numberEvents(ctx));
  }

  #toDetail(sources: WorkItemSources, options: DetailRequest): WorkItemDetail {
    const { id } = sources.records.item;
    const fragments = this.#fragments.get(id) ?? new Map();
    this.#fragments.delete(id);
    this.#fragments.set(id, fragments);
    const [oldest] = this.#fragments.keys();
    if (this.#fragments.size > keptItems && oldest !== undefined) this.#fragments.delete(oldest);
    return toWorkItemDetail(sources, {
      ...this.#redaction,
      fragments,
      ...(options.currentActionId ? { currentActionId: options.currentActionId } : {}),
    });
  }
}

interface DetailRequest {
  readonly currentActionId?: string | undefined;
  readonly messagesBefore?: number | undefined;
}

/** A request that counts as spent although nobody knows whether it was answered. */
export interface UnknownRequest {
  readonly id: string;
  readonly model: string;
  /** What is charged for it. */
  readonly tokens: number;
  readonly command: string;
}

const keptItems = 32;

/** @throws WireRefusal `not_found` */
function* sourcesOf(
  ctx: Context,
  storeId: string,
  { itemId, messagesBefore }: { readonly itemId: string } & DetailRequest,
): Transaction<WorkItemSources> {
  const sources = yield* readItemSources(ctx, storeId, itemId, messagesBefore === undefined ? {} : { messagesBefore });
  if (sources === undefined) throw new WireRefusal('not_found', `There is no work item ${itemId}.`);
  return sources;
}
