import { type BridgeToBrowserFrame, type BrowserFrame, encodeFrame } from '@stint/contracts';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ConnectionPort, SocketListener } from './connection.js';
import { PageStore } from './page-store.js';
import { aDetail, aHello, aSummary } from './sample.fixture.js';

/** A bridge in memory: what the page sent is read here, what it is to hear is said here. */
class TestBridge implements ConnectionPort {
  readonly sent: BrowserFrame[] = [];
  listener: SocketListener | null = null;
  readonly timers: { callback: () => void; delayMs: number }[] = [];
  signedInAnswer = true;

  open(listener: SocketListener) {
    this.listener = listener;
    queueMicrotask(listener.onOpen);
    return { send: (text: string) => void this.sent.push(JSON.parse(text) as BrowserFrame), close: () => undefined };
  }
  signedIn = async (): Promise<boolean> => this.signedInAnswer;
  setTimer(callback: () => void, delayMs: number): () => void {
    const timer = { callback, delayMs };
    this.timers.push(timer);
    return () => void this.timers.splice(this.timers.indexOf(timer), 1);
  }
  now = (): number => 1_000;

  say(frame: BridgeToBrowserFrame): void {
    this.listener?.onText(encodeFrame(frame));
  }
  requests(operation: string): Extract<BrowserFrame, { type: 'request' }>[] {
    return this.sent.filter((frame) => frame.type === 'request').filter((frame) => frame.operation === operation);
  }
  answer(operation: string, result: unknown): void {
    const request = this.requests(operation).at(-1);
    if (!request) throw new Error(`nothing asked for ${operation}`);
    this.say({ type: 'response', id: request.id, ok: true, result });
  }
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
};

let bridge: TestBridge;
let store: PageStore;
beforeEach(async () => {
  bridge = new TestBridge();
  store = new PageStore(bridge);
  await settle();
  bridge.say(aHello());
});

describe('the page store', () => {
  it('reads the board and the open item when the bridge says hello', async () => {
    store.open('i1');
    bridge.answer('list', { storeId: 's', items: [aSummary({ title: 'Mend it' })], totalCount: 1, nextCursor: null });
    bridge.answer('get', aDetail({ status: 'running' }));
    await settle();
    expect(store.snapshot().board.get('i1')?.title).toBe('Mend it');
    expect(store.snapshot().item?.status).toBe('running');
  });

  it('case P07: an older item never replaces a newer one', async () => {
    store.open('i1');
    bridge.answer('get', aDetail({ progressRevision: 12, status: 'done' }));
    await settle();
    bridge.say({ type: 'resync', itemId: null, reason: 'slow_reader' });
    bridge.answer('get', aDetail({ progressRevision: 9, status: 'running' }));
    await settle();
    expect(store.snapshot().item?.status).toBe('done');
  });

  it('shows held tokens from progress at once and keeps the newer budget when a late item arrives', async () => {
    store.open('i1');
    bridge.answer('get', aDetail({ version: [4, 0], heldTokens: 0 }));
    await settle();
    const control = aDetail({ version: [6, 0], heldTokens: 500 }).control;
    bridge.say({
      type: 'progress',
      progress: {
        storeId: 's',
        itemId: 'i1',
        actionId: null,
        runId: null,
        at: 2,
        activity: 'thinking',
        liveText: '',
        control,
      },
    });
    expect(store.snapshot().item?.control.held.tokens).toBe(500);
    bridge.say({ type: 'resync', itemId: 'i1', reason: 'slow_reader' });
    bridge.answer('get', aDetail({ version: [5, 0], heldTokens: 0 }));
    await settle();
    expect(store.snapshot().item?.control.held.tokens).toBe(500);
  });

  it('reads an item once more, not once an event, when many events arrive during a read', async () => {
    store.open('i1');
    const event = (seq: number): BridgeToBrowserFrame => ({
      type: 'event',
      event: {
        storeId: 's',
        itemId: 'i1',
        seq,
        at: 1,
        type: 'action.completed',
        actionId: null,
        runId: null,
        text: '',
        summary: null,
      },
    });
    for (let seq = 1; seq <= 20; seq += 1) bridge.say(event(seq));
    expect(bridge.requests('get')).toHaveLength(1);
    bridge.answer('get', aDetail({}));
    await settle();
    expect(bridge.requests('get')).toHaveLength(2);
  });

  it('asks again after a lost connection what was not answered, with the same message id', async () => {
    const answered = store.command('post_message', { itemId: 'i1', text: 'go on', clientMessageId: 'm-1' });
    bridge.listener?.onClose();
    expect(store.snapshot().connection).toBe('lost');
    bridge.timers.at(-1)?.callback();
    await settle();
    bridge.say(aHello());
    const asked = bridge.requests('post_message');
    expect(asked).toHaveLength(2);
    expect(asked[1]).toEqual(asked[0]);
    bridge.answer('post_message', { item: aDetail({}), conflict: null });
    await expect(answered).resolves.toEqual({ itemId: 'i1', conflict: null });
  });

  it('does not give a command again that nobody knows the end of, and says so', async () => {
    const given = store.command('cancel', { itemId: 'i1', expectedRevision: 1 });
    bridge.listener?.onClose();
    await expect(given).rejects.toMatchObject({ code: 'connection_lost' });
    bridge.timers.at(-1)?.callback();
    await settle();
    bridge.say(aHello());
    expect(bridge.requests('cancel')).toHaveLength(1);
  });

  it('case B09: two silent heartbeats are a lost connection, though the socket says nothing', () => {
    const watch = bridge.timers.at(-1);
    expect(watch?.delayMs).toBe(2 * aHello().heartbeatMs);
    watch?.callback();
    expect(store.snapshot().connection).toBe('lost');
  });

  it('says signed out when the bridge no longer knows the session', async () => {
    bridge.signedInAnswer = false;
    bridge.listener?.onClose();
    bridge.timers.at(-1)?.callback();
    await settle();
    expect(store.snapshot().connection).toBe('refused');
  });

  it('drops an answer for an item that is no longer open', async () => {
    store.open('i1');
    store.open('i2');
    bridge.answer('get', aDetail({}));
    await settle();
    expect(store.snapshot().item).toBeNull();
  });

  it('reports a frame that does not match its schema and shows nothing of it', () => {
    bridge.listener?.onText(JSON.stringify({ type: 'presence', agents: 'none' }));
    expect(store.snapshot().trouble).toMatch(/presence frame is not valid/);
    expect(store.snapshot().agents).toHaveLength(1);
  });

  it('ignores a frame type of a newer bridge', () => {
    bridge.listener?.onText(JSON.stringify({ type: 'weather', sun: true }));
    expect(store.snapshot().trouble).toBeNull();
  });
});
