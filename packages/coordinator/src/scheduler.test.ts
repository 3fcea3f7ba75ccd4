import { describe, expect, it } from 'vitest';
import { createJobSlots, type Job } from './job-slots.js';
import { createScheduler, type Scheduler, type SchedulerOptions, type WorkSource } from './scheduler.js';

/** A queue of claimable jobs that end when they are told to. */
function queue(size: number) {
  const pending: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const aborted: string[] = [];
  const givenUp: string[] = [];
  const most = { running: 0 };
  let scheduler: Scheduler | undefined;
  const slots = createJobSlots(size, () => scheduler?.wake());
  const job = (id: string): Job => ({
    id,
    run: (signal) =>
      new Promise((resolve, reject) => {
        ends.set(id, (error) => (error === undefined ? resolve() : reject(error)));
        signal.addEventListener('abort', () => {
          aborted.push(id);
          resolve();
        });
      }),
    giveUp: () => {
      if (id === 'stuck') return Promise.reject(new Error('cannot be put back'));
      givenUp.push(id);
      return Promise.resolve();
    },
  });
  const source: WorkSource = {
    slots,
    claim: () => {
      const id = pending.shift();
      most.running = Math.max(most.running, slots.size);
      return Promise.resolve(id === undefined ? null : job(id));
    },
  };
  const start = (over: Partial<SchedulerOptions> = {}): Scheduler => {
    scheduler = createScheduler({
      sources: [source],
      recover: () => Promise.resolve(),
      listen: () => () => undefined,
      pollMs: 60_000,
      sweepMs: 1_000_000,
      now: () => 0,
      onError: (error) => {
        throw error;
      },
      ...over,
    });
    scheduler.start();
    return scheduler;
  };
  const running = async (...ids: string[]): Promise<void> => {
    while (ids.some((id) => !ends.has(id))) await new Promise((resolve) => setImmediate(resolve));
  };
  return { pending, ends, aborted, givenUp, most, slots, source, start, running };
}

describe('the scheduler', () => {
  it('never fills more than its slots, and takes up the rest when one is free again', async () => {
    const work = queue(2);
    work.pending.push('a', 'b', 'c');
    const scheduler = work.start();
    await work.running('a', 'b');
    expect([...work.ends.keys()]).toEqual(['a', 'b']);
    work.ends.get('a')?.();
    await work.running('c');
    expect(work.slots.size).toBe(2);
    await scheduler.stop('test');
  });

  it('loses no wake-up that comes during a pass', async () => {
    const work = queue(1);
    let passes = 0;
    const scheduler = work.start({
      recover: () => {
        passes += 1;
        return Promise.resolve();
      },
      sweepMs: 1,
      now: () => passes * 10,
    });
    await scheduler.idle();
    work.pending.push('late');
    scheduler.wake();
    await work.running('late');
    await scheduler.stop('test');
  });

  it('leaves nothing waiting behind, however often it is woken', async () => {
    const work = queue(1);
    const warnings: string[] = [];
    const note = (warning: Error): void => void warnings.push(warning.name);
    process.on('warning', note);
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    try {
      const scheduler = work.start();
      await scheduler.idle();
      const before = timers();
      for (let woken = 0; woken < 20; woken += 1) {
        scheduler.wake();
        await scheduler.idle();
      }
      await new Promise((resolve) => setImmediate(resolve));
      expect(timers()).toBeLessThan(before + 10);
      expect(warnings).toEqual([]);
      await scheduler.stop('test');
    } finally {
      process.off('warning', note);
    }
  });

  it('is idle only when nothing runs', async () => {
    const work = queue(1);
    work.pending.push('a');
    const scheduler = work.start();
    await work.running('a');
    let idle = false;
    const waited = scheduler.idle().then(() => (idle = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(idle).toBe(false);
    work.ends.get('a')?.();
    await waited;
    await scheduler.stop('test');
  });

  it('claims nothing after stop, aborts what runs, and resolves when all has settled', async () => {
    const work = queue(2);
    work.pending.push('a');
    const scheduler = work.start();
    await work.running('a');
    const stopped = scheduler.stop('enough');
    work.pending.push('b');
    await stopped;
    expect(work.aborted).toEqual(['a']);
    expect(work.ends.has('b')).toBe(false);
    expect(work.slots.size).toBe(0);
  });

  it('puts back a claim whose job could not settle it', async () => {
    const work = queue(1);
    work.pending.push('a', 'b');
    const scheduler = work.start();
    await work.running('a');
    work.ends.get('a')?.(new Error('the disk is full'));
    await work.running('b');
    expect(work.givenUp).toEqual(['a']);
    await scheduler.stop('test');
  });

  it('puts back every failed claim that it can, although one cannot be put back', async () => {
    const work = queue(2);
    const errors: unknown[] = [];
    work.pending.push('stuck', 'b');
    const scheduler = work.start({ onError: (error) => errors.push(error) });
    await work.running('stuck', 'b');
    work.ends.get('stuck')?.(new Error('the disk is full'));
    work.ends.get('b')?.(new Error('the disk is full'));
    work.pending.push('c');
    await work.running('c');
    expect(work.givenUp).toEqual(['b']);
    expect(errors).not.toEqual([]);
    await scheduler.stop('test');
  });

  it('takes up the work of one source although another fails', async () => {
    const work = queue(1);
    const broken = queue(1);
    const errors: unknown[] = [];
    work.pending.push('a');
    const failing: WorkSource = { slots: broken.slots, claim: () => Promise.reject(new Error('a damaged row')) };
    const scheduler = work.start({ sources: [failing, work.source], onError: (error) => errors.push(error) });
    await work.running('a');
    expect(errors).toHaveLength(1);
    await scheduler.stop('test');
  });

  it('reports a failed pass and tries again', async () => {
    const work = queue(1);
    work.pending.push('a');
    const errors: unknown[] = [];
    let fails = true;
    const scheduler = work.start({
      pollMs: 5,
      sweepMs: 1,
      now: () => Date.now(),
      recover: () => {
        if (!fails) return Promise.resolve();
        fails = false;
        return Promise.reject(new Error('busy'));
      },
      onError: (error) => errors.push(error),
    });
    await work.running('a');
    expect(errors).toHaveLength(1);
    await scheduler.stop('test');
  });
});
