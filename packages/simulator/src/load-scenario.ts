import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Scenario } from './scenario.js';
import { scenarioNamed, scenarioNames } from './scenarios/index.js';

/**
 * A built-in scenario by name, or the default export of an ES module by path.
 * @throws TypeError if the module has no function as its default export; rejects if it cannot be loaded
 */
export async function loadScenario(nameOrPath: string): Promise<Scenario> {
  if (scenarioNames.includes(nameOrPath)) return scenarioNamed(nameOrPath);
  const address = pathToFileURL(resolve(nameOrPath)).href;
  const loaded = (await import(address)) as { readonly default?: unknown };
  if (typeof loaded.default === 'function') return loaded.default as Scenario;
  throw new TypeError(`${nameOrPath} must export a scenario, a function (request) => answer, as its default.`);
}
