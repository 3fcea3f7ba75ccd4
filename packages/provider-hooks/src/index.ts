export { composeHooks } from './compose-hooks.js';
export { currentCallFacts, withCallFacts } from './call-facts.js';
export { deepFreeze } from './deep-freeze.js';
export { isProviderError, ProviderError } from './errors.js';
export type { NormalError, ProviderErrorCode, ProviderErrorDetails } from './errors.js';
export { hasInvalidInput, parseToolInput, responseEntry } from './history.js';
export { hookModel } from './hook-model.js';
export { hookProvider, isFetchBoundary } from './hook-provider.js';
export { createHookedFetch } from './hooked-fetch.js';
export type { HookedModel, HookOptions, LanguageModelLike, ModelCall, ModelEvent } from './model.js';
export { redact } from './normal-error.js';
export type { PastAnswer, PastAnswers, PastRequest } from './past-answer.js';
export { recheckCall } from './recheck-call.js';
export { retryAfterMs } from './retry-after.js';
export { mergeRawUsage, rawUsageObject, usageOfRaw } from './raw-usage.js';
export { serviceTierAmong, serviceTierIn } from './service-tier.js';
export { usageOfResult } from './usage.js';
export { wellFormed } from './well-formed.js';
export type {
  Budget,
  CallFacts,
  CallSettings,
  ContentPart,
  Effort,
  FailFacts,
  FinishReason,
  FrozenRequest,
  HistoryEntry,
  HistoryEntryKind,
  HookName,
  PromptMessage,
  ProviderHooks,
  ToolDefinition,
  TurnHandle,
  TurnResponse,
  Usage,
} from './types.js';
