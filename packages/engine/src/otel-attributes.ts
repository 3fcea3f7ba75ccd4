import type { Attributes } from '@opentelemetry/api';
import type { FrozenRequest, TurnResponse, Usage } from '@stint/provider-hooks';

/** Names by which the AI SDK calls providers whose conventional name is another one. */
const providerNames: ReadonlyMap<string, string> = new Map([
  ['google', 'gcp.gemini'],
  ['vertex', 'gcp.vertex_ai'],
  ['amazon-bedrock', 'aws.bedrock'],
  ['azure', 'azure.ai.openai'],
  ['azure-openai', 'azure.ai.openai'],
  ['mistral', 'mistral_ai'],
  ['xai', 'x_ai'],
]);

/** The conventional name of an AI SDK provider: `openai.responses` is `openai`. One that has none keeps its own. */
export function providerNameOf(provider: string): string {
  const first = provider.split('.')[0] ?? provider;
  return providerNames.get(first) ?? first;
}

/** What is told of a request, on its span; content is no part of it. */
export function requestAttributes(request: FrozenRequest): Attributes {
  const { settings } = request;
  return withoutUndefined({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': providerNameOf(request.provider),
    'gen_ai.request.model': request.modelId,
    'gen_ai.request.max_tokens': settings.maxOutputTokens,
    'gen_ai.request.temperature': settings.temperature,
    'gen_ai.request.top_p': settings.topP,
    'gen_ai.request.top_k': settings.topK,
    'gen_ai.request.frequency_penalty': settings.frequencyPenalty,
    'gen_ai.request.presence_penalty': settings.presencePenalty,
    'gen_ai.request.seed': settings.seed,
    'gen_ai.request.stop_sequences': settings.stopSequences && [...settings.stopSequences],
    'gen_ai.output.type': settings.responseFormat?.type === 'json' ? 'json' : undefined,
    'stint.turn.number': request.turnNumber,
    'stint.turn.purpose': request.purpose,
    'stint.turn.retry_of': request.retryOf,
  });
}

/** What is told of an answer. */
export function responseAttributes(response: TurnResponse): Attributes {
  return {
    'gen_ai.response.model': response.model,
    'gen_ai.response.finish_reasons': [response.finishReason],
    ...usageAttributes(response.usage),
  };
}

/** The convention counts cached tokens among the input. What nobody measured is left out, never zero. */
export function usageAttributes(usage: Usage | null): Attributes {
  if (usage === null) return {};
  const { cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    'gen_ai.usage.input_tokens': inputTokensOf(usage),
    'gen_ai.usage.output_tokens': usage.outputTokens,
    ...(cacheReadTokens > 0 ? { 'gen_ai.usage.cache_read.input_tokens': cacheReadTokens } : {}),
    ...(cacheWriteTokens > 0 ? { 'gen_ai.usage.cache_creation.input_tokens': cacheWriteTokens } : {}),
    ...(reasoningTokens > 0 ? { 'gen_ai.usage.reasoning.output_tokens': reasoningTokens } : {}),
  };
}

export function inputTokensOf({ inputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number {
  return inputTokens + cacheReadTokens + cacheWriteTokens;
}

function withoutUndefined(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
