import type { Scenario } from '../scenario.js';
import { defaultScenario } from './default.js';

/** The built-in scenarios by name. */
const builtIn: Readonly<Record<string, Scenario>> = {
  default: defaultScenario,
  'fix-the-failing-test': defaultScenario,
};

/** The names `startSimulator` and `serve.js` know. */
export const scenarioNames = Object.freeze(Object.keys(builtIn));

/** A built-in scenario. @throws TypeError for a name that is not in `scenarioNames` */
export function scenarioNamed(name: string): Scenario {
  const scenario = Object.hasOwn(builtIn, name) ? builtIn[name] : undefined;
  if (scenario !== undefined) return scenario;
  throw new TypeError(`Unknown scenario '${name}'. Built in: ${scenarioNames.join(', ')}.`);
}
