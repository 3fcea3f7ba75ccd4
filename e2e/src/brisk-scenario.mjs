// @ts-check
import { defaultScenario } from '@stint/simulator';

/**
 * The default scenario, each answer streamed over about half a second: long enough to be watched or interrupted, short enough to wait for.
 * @type {import('@stint/simulator').Scenario}
 */
export default (request) => ({
  ...defaultScenario({ ...request, variants: [...request.variants, 'slow'] }),
  firstPieceDelayMs: 80,
  pieceDelayMs: 25,
});
