import type { Settings } from '@stint/contracts';
import type { LanguageModelLike, PastAnswers } from '@stint/provider-hooks';
import type { Simulator } from '@stint/simulator';
import { usageFailure } from './failure.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** A provider by the first word of `provider:name`. */
interface ProviderEntry {
  /** Variable that holds the key; null where none is needed. */
  readonly key: string | null;
  /** True when what the provider needs is there. */
  readonly ready: (environment: Environment) => boolean;
  readonly open: (name: string, environment: Environment) => Promise<LanguageModelLike>;
}

/** A key that is absent or empty counts as missing. */
const has = (environment: Environment, name: string): boolean => Boolean(environment[name]);

const openaiEntry: ProviderEntry = {
  key: 'OPENAI_API_KEY',
  ready: (environment) => has(environment, 'OPENAI_API_KEY') || has(environment, 'OPENAI_BASE_URL'),
  open: async (name, environment) => {
    const apiKey = environment['OPENAI_API_KEY'] ?? '';
    const baseURL = environment['OPENAI_BASE_URL'];
    if (!baseURL) return (await import('@stint/provider-hooks/openai')).openai({ apiKey }).responses(name);
    const { openaiCompatible } = await import('@stint/provider-hooks/openai-compatible');
    return openaiCompatible({ name: 'openai', baseURL, ...(apiKey ? { apiKey } : {}) }).chatModel(name);
  },
};

const anthropicEntry: ProviderEntry = {
  key: 'ANTHROPIC_API_KEY',
  ready: (environment) => has(environment, 'ANTHROPIC_API_KEY'),
  open: async (name, environment) => {
    const { anthropic } = await import('@stint/provider-hooks/anthropic');
    return anthropic({ apiKey: environment['ANTHROPIC_API_KEY'] ?? '' })(name);
  },
};

const googleEntry: ProviderEntry = {
  key: 'GOOGLE_GENERATIVE_AI_API_KEY',
  ready: (environment) => has(environment, 'GOOGLE_GENERATIVE_AI_API_KEY'),
  open: async (name, environment) => {
    const { google } = await import('@stint/provider-hooks/google');
    return google({ apiKey: environment['GOOGLE_GENERATIVE_AI_API_KEY'] ?? '' })(name);
  },
};

const keyed: ReadonlyMap<string, ProviderEntry> = new Map([
  ['openai', openaiEntry],
  ['anthropic', anthropicEntry],
  ['google', googleEntry],
]);

const simulatedModels = ['simulated:default', 'simulated:slow'] as const;

/** An error of a model that cannot be had; the item then needs attention for the provider's sake. */
class ProviderNotConfigured extends Error {
  override readonly name = 'ProviderNotConfigured';
  readonly code = 'provider_not_configured';
  readonly retryable = false;
}

/**
 * Models by name. `simulated` starts a model endpoint of its own in this process, on loopback, when it is first asked for. Nothing is simulated
 * unless a person named it.
 */
export class Models implements AsyncDisposable {
  readonly #environment: Environment;
  readonly #defaultModel: string | null;
  #simulator: Promise<Simulator> | null = null;

  /** @param defaultModel the model of items that name none; STINT_MODEL where it is undefined */
  constructor(environment: Environment, defaultModel?: string) {
    this.#environment = environment;
    this.#defaultModel = (defaultModel ?? environment['STINT_MODEL']) || null; // looked at when it is needed: looking and steering need no model
  }

  /** Full name of the model of items that name none; null without one. @throws CommandFailure (usage) when it cannot be had */
  get defaultModel(): string | null {
    return this.#defaultModel === null ? null : this.choose(this.#defaultModel);
  }

  /**
   * The full name of a model that can be had.
   * @throws CommandFailure (usage) naming what is missing and what works
   */
  choose(name: string | undefined): string {
    const wanted = name ?? this.#defaultModel;
    if (!wanted) throw usageFailure(`No model is chosen. ${howToChoose}`);
    const { provider, model } = split(wanted);
    if (provider === 'simulated') return `simulated:${model || 'default'}`;
    const entry = keyed.get(provider);
    if (!entry) throw usageFailure(`There is no provider "${provider}" (in "${wanted}"). ${howToChoose}`);
    if (!model) throw usageFailure(`"${wanted}" names no model; write ${provider}:<model>.`);
    if (!entry.ready(this.#environment))
      throw usageFailure(`${wanted} needs ${entry.key}, which is not set. ${howToChoose}`);
    return wanted;
  }

  /** The model itself. @throws ProviderNotConfigured when this process has no key for it */
  async open(name: string | null): Promise<LanguageModelLike> {
    const wanted = name ?? this.#defaultModel;
    const { provider, model } = split(wanted ?? '');
    if (provider === 'simulated') return await this.#openSimulated(model || 'default');
    const entry = keyed.get(provider);
    if (!entry?.ready(this.#environment))
      throw new ProviderNotConfigured(
        `The model ${wanted ?? '(none)'} cannot be used here: ${entry ? `${entry.key} is not set` : 'its provider is not known'}. ${howToChoose}`,
      );
    return await entry.open(model, this.#environment);
  }

  /**
   * Answers that a provider keeps, so that one which a crash lost need not be paid for again: OpenAI's, of its own address.
   * @param model as a request names it, `openai.responses:<model>`
   */
  pastAnswersOf(model: string): PastAnswers | null {
    const apiKey = this.#environment['OPENAI_API_KEY'];
    if (!model.startsWith('openai.responses:') || !apiKey || has(this.#environment, 'OPENAI_BASE_URL')) return null;
    return async (request, signal) => {
      const { openaiPastAnswers } = await import('@stint/provider-hooks/openai');
      return await openaiPastAnswers({ apiKey })(request, signal);
    };
  }

  /** Models and keys for the settings page: present or missing, never a value. */
  describe(): Pick<Settings, 'models' | 'keys' | 'defaultModel'> {
    const defaultModel = this.#defaultModel === 'simulated' ? 'simulated:default' : this.#defaultModel;
    const known = new Set<string>([...simulatedModels, ...(defaultModel === null ? [] : [defaultModel])]);
    return {
      defaultModel,
      models: [...known].map((id) => this.#describeModel(id)),
      keys: [...keyed.values()].flatMap(({ key }) =>
        key ? [{ name: key, present: has(this.#environment, key) }] : [],
      ),
    };
  }

  #describeModel(id: string): Settings['models'][number] {
    const { provider } = split(id);
    const entry = keyed.get(provider);
    const available = provider === 'simulated' || (entry?.ready(this.#environment) ?? false);
    return { id, available, missingKey: available ? null : (entry?.key ?? null), priced: provider === 'simulated' };
  }

  /** Values of the keys that are set, so that they are masked wherever they might be shown. */
  secrets(): readonly string[] {
    return [...keyed.values()].flatMap(({ key }) => (key && this.#environment[key] ? [this.#environment[key]] : []));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#simulator)?.close();
  }

  async #openSimulated(model: string): Promise<LanguageModelLike> {
    this.#simulator ??= import('@stint/simulator').then(({ startSimulator }) =>
      startSimulator({ scenario: 'default' }),
    );
    const { url } = await this.#simulator;
    const { openaiCompatible } = await import('@stint/provider-hooks/openai-compatible');
    return openaiCompatible({ name: 'simulated', baseURL: url }).chatModel(model);
  }
}

const howToChoose =
  'Give --model provider:name (openai with OPENAI_API_KEY or OPENAI_BASE_URL, anthropic with ANTHROPIC_API_KEY, google with GOOGLE_GENERATIVE_AI_API_KEY), or set STINT_MODEL, or try it offline with --model simulated.';

function split(name: string): { provider: string; model: string } {
  const at = name.indexOf(':');
  return at < 0 ? { provider: name, model: '' } : { provider: name.slice(0, at), model: name.slice(at + 1) };
}
