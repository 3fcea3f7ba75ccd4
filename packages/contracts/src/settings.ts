import * as z from 'zod';
import { budgetLimitsSchema } from './execution.js';
import { CONTRACT_LIMITS, DTO_LIMITS } from './limits.js';
import { boundedText, countSchema, lineSchema } from './scalars.js';

/** A model that can be chosen. */
export const modelSettingSchema = z.object({
  /** `provider:name`. */
  id: boundedText(CONTRACT_LIMITS.maxModelBytes),
  available: z.boolean(),
  /** Name of the variable that is missing; null if nothing is. */
  missingKey: z.string().max(128).nullable(),
  priced: z.boolean(),
});
export type ModelSetting = Readonly<z.infer<typeof modelSettingSchema>>;

/** How the agent is set up. Keys are present or missing; a value is never shown. */
export const settingsSchema = z.object({
  agentVersion: z.string().max(64),
  models: z.array(modelSettingSchema).max(200),
  defaultModel: boundedText(CONTRACT_LIMITS.maxModelBytes).nullable(),
  keys: z.array(z.object({ name: z.string().max(128), present: z.boolean() })).max(64),
  defaultLimits: budgetLimitsSchema,
  maxConcurrentActions: countSchema,
});
export type Settings = Readonly<z.infer<typeof settingsSchema>>;

/** Directories beneath one directory, for the picker. */
export const directoryListingSchema = z.object({
  path: boundedText(CONTRACT_LIMITS.maxWorkDirBytes),
  /** null at the root. */
  parent: boundedText(CONTRACT_LIMITS.maxWorkDirBytes).nullable(),
  isGitRepository: z.boolean(),
  directories: z
    .array(
      z.object({ name: lineSchema, path: boundedText(CONTRACT_LIMITS.maxWorkDirBytes), isGitRepository: z.boolean() }),
    )
    .max(DTO_LIMITS.maxDirectoryEntries),
  omittedCount: countSchema,
});
export type DirectoryListing = Readonly<z.infer<typeof directoryListingSchema>>;
