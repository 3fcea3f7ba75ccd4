import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServedRequest } from '@stint/simulator';

const servePath = fileURLToPath(new URL('../../packages/simulator/dist/serve.js', import.meta.url));

/** A model endpoint in a process of its own, so that it outlives whoever is killed, with its log on disk. */
export interface SimulatorProcess extends AsyncDisposable {
  readonly url: string;
  /** Environment that points `--model openai:<name>` at it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Every request it served so far, in order. */
  served(): readonly ServedRequest[];
}

/** The scenario whose answers can be watched. */
export const briskScenario = fileURLToPath(new URL('brisk-scenario.mjs', import.meta.url));

/**
 * Starts one; it ends with whoever started it, also when that is killed.
 *
 * @param scenario name of a built-in one, or path of a module
 */
export async function startSimulatorProcess(scenario = 'default'): Promise<SimulatorProcess> {
  const log = join(mkdtempSync(join(tmpdir(), 'stint-simulator-')), 'served.jsonl');
  const child = spawn(process.execPath, [servePath, '--scenario', scenario, '--log', log, '--port', '0', '--parent'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const { url } = JSON.parse(line) as { url: string };
  return {
    url,
    environment: { OPENAI_BASE_URL: url, OPENAI_API_KEY: 'sk-made-up-for-tests' },
    served: () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((text) => JSON.parse(text) as ServedRequest),
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null) return;
      const gone = once(child, 'exit');
      child.stdin.end();
      await gone;
    },
  };
}
