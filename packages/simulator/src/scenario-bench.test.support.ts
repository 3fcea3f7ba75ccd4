import { rm } from 'node:fs/promises';
import type { Item } from './mini-agent.test.support.js';
import { makeSample, type Sample } from './sample-repository.test.support.js';
import { type Simulator, startSimulator } from './server.js';

/** A simulator, and sample repositories that go away with it. */
export interface ScenarioBench extends AsyncDisposable {
  readonly simulator: Simulator;
  sample(seed: number, family?: Sample['family']): Promise<Sample>;
  itemFor(root: string | null, more?: Partial<Item>): Item;
}

export async function openBench(): Promise<ScenarioBench> {
  const simulator = await startSimulator();
  const roots: string[] = [];
  return {
    simulator,
    async sample(seed, family) {
      const made = await makeSample(seed, family);
      roots.push(made.root);
      return made;
    },
    itemFor(root, more = {}) {
      const deliveryTarget = root === null ? 'response' : 'workspace_files';
      return {
        url: simulator.url,
        model: 'default',
        root,
        goal: 'make the failing test pass',
        deliveryTarget,
        ...more,
      };
    },
    async [Symbol.asyncDispose]() {
      await simulator.close();
      await Promise.all(roots.map((root) => rm(root, { recursive: true })));
    },
  };
}
