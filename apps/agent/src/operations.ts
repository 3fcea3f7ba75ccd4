import type { OperationInput, OperationName, Settings } from '@stint/contracts';
import { defaultItemLimits } from '@stint/coordinator';
import { defaultMaxConcurrentActions } from '@stint/work-items';
import type { Application } from './application.js';
import { listDirectories } from './directories.js';
import { steer, type SteerRequest } from './steering.js';
import { readVersion } from './version.js';

/** Answers one operation of the page. The input was checked against the contract before. */
export async function handleOperation(
  application: Application,
  operation: OperationName,
  input: unknown,
): Promise<unknown> {
  const { reader } = application;
  switch (operation) {
    case 'list':
      return await reader.page(input as OperationInput<'list'>);
    case 'get': {
      const { itemId, ...options } = input as OperationInput<'get'>;
      return await reader.detail(itemId, options);
    }
    case 'get_action': {
      const { itemId, actionId } = input as OperationInput<'get_action'>;
      return await reader.action(itemId, actionId);
    }
    case 'read_events': {
      const { itemId, since } = input as OperationInput<'read_events'>;
      return await reader.events(itemId, since);
    }
    case 'get_settings':
      return describeSettings(application);
    case 'list_directories': {
      const { path, showHidden } = input as OperationInput<'list_directories'>;
      return await listDirectories(path, showHidden ?? false);
    }
    default:
      return await steer(application, { operation, input } as SteerRequest);
  }
}

/** How this agent is set up; keys are present or missing, never shown. */
function describeSettings({ models }: Application): Settings {
  const {
    maxRequests = null,
    maxTokens = null,
    maxCostMicros = null,
    maxRunRequests = null,
    maxAttempts = null,
    maxConsecutiveFailures = null,
  } = defaultItemLimits;
  return {
    agentVersion: readVersion(),
    ...models.describe(),
    defaultLimits: { maxRequests, maxTokens, maxCostMicros, maxRunRequests, maxAttempts, maxConsecutiveFailures },
    maxConcurrentActions: defaultMaxConcurrentActions,
  };
}
