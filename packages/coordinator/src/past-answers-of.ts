import type { PastAnswers } from '@stint/provider-hooks';

/** The past answers of the provider of a model, `provider:name`; null if it keeps none. */
export type PastAnswersOf = (model: string) => PastAnswers | null;
