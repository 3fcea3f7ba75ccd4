import { expect, test } from 'vitest';
import { EventChannel } from './event-channel.js';

test('emit waits until the consumer comes back; push does not, up to the high water', async () => {
  const log: string[] = [];
  const channel: EventChannel<number> = new EventChannel<number>(
    async () => {
      await channel.emit(1);
      log.push('after 1');
      expect(channel.push(2)).toBeUndefined();
      expect(channel.push(3)).toBeUndefined();
      const full = channel.push(4);
      expect(full).toBeInstanceOf(Promise);
      await full;
      log.push('after 4');
    },
    () => undefined,
    2,
  );
  for await (const event of channel) log.push(`seen ${event}`);
  expect(log.slice(0, 3)).toEqual(['seen 1', 'after 1', 'seen 2']);
  expect(log.filter((line) => line.startsWith('seen'))).toEqual(['seen 1', 'seen 2', 'seen 3', 'seen 4']);
  expect(log.indexOf('after 4')).toBeGreaterThan(log.indexOf('seen 4'));
});

test('nothing runs before the first event is asked for, nor after the consumer left', async () => {
  let ran = false;
  const channel = new EventChannel<number>(
    async () => {
      ran = true;
    },
    () => undefined,
  );
  await channel.return();
  expect(await channel.next()).toEqual({ done: true, value: undefined });
  expect(ran).toBe(false);
});

test('leaving releases a producer that waits, tells it, and waits for its end', async () => {
  const log: string[] = [];
  const channel: EventChannel<number> = new EventChannel<number>(
    async () => {
      await channel.emit(1);
      log.push('released');
      await channel.emit(2);
      log.push('ended');
    },
    () => log.push('told'),
  );
  expect(await channel.next()).toEqual({ done: false, value: 1 });
  await channel.return();
  expect(log.toSorted()).toEqual(['ended', 'released', 'told']);
  expect(await channel.next()).toEqual({ done: true, value: undefined });
});

test('a consumer that asks several times at once gets each event once, in order, and then the end', async () => {
  const channel: EventChannel<number> = new EventChannel<number>(
    async () => {
      await channel.emit(1);
      await Promise.resolve();
      void channel.push(2);
      await channel.emit(3);
    },
    () => undefined,
  );
  const asked = Array.from({ length: 5 }, () => channel.next());
  const values = (await Promise.all(asked)).map(({ value, done }) => (done === true ? 'done' : value));
  expect(values).toEqual([1, 2, 3, 'done', 'done']);
});
