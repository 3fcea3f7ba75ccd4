import type { FrozenRequest } from '@stint/provider-hooks';

/** A request with nothing in it, for tests that only need a turn to be journaled. */
export const emptyRequest: FrozenRequest = {
  model: 'simulated:m',
  provider: 'simulated',
  modelId: 'm',
  prompt: [],
  tools: [],
  settings: {},
  hash: 'h',
  stream: true,
  turnNumber: 1,
  inputIds: [],
  entries: [],
  purpose: 'turn',
};
