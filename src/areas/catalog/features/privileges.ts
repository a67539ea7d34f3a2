import { newId } from '../../../platform/ids.ts';
import { type FieldErrors, refuse } from '../../../platform/refusal.ts';
import { isStorable } from '../../../platform/schema/storable.ts';
import type { PrivilegeJson } from './queries.ts';
import type { PrivilegeInput } from './schema.ts';

type Faults = Record<string, string[]>;

/**
 * Applies the privileges of an input to a feature: new ones are added, existing ones get the new name and more options.
 * Unlisted privileges stay unchanged and are not returned.
 *
 * @throws Refusal 422 privilege.code: value_is_duplicated; privilege.config: invalid_format; privilege.value_type:
 *   value_is_frozen
 * Rules: entitlements.md#records, entitlements.md#routes "PUT /features".
 */
export function preparePrivileges(given: readonly PrivilegeInput[], stored: readonly PrivilegeJson[]): PrivilegeJson[] {
  const faults: Faults = {};
  const prepared = given.map((input) => {
    const former = stored.find(({ code }) => code === input.code);
    return former ? changed(input, former, faults) : made(input, faults);
  });
  if (new Set(given.map(({ code }) => code)).size < given.length)
    addFault(faults, 'privilege.code', 'value_is_duplicated');
  if (Object.keys(faults).length > 0) throw refuse.invalid(faults satisfies FieldErrors);
  return prepared;
}

function made(input: PrivilegeInput, faults: Faults): PrivilegeJson {
  const value_type = input.value_type ?? 'string';
  const options = value_type === 'select' ? optionsOf(input.config) : isEmpty(input.config) ? [] : undefined;
  if (options === undefined) addFault(faults, 'privilege.config', 'invalid_format');
  return { id: newId(), code: input.code, name: input.name ?? null, value_type, select_options: options ?? [] };
}

function changed(input: PrivilegeInput, former: PrivilegeJson, faults: Faults): PrivilegeJson {
  if ((input.value_type ?? former.value_type) !== former.value_type)
    addFault(faults, 'privilege.value_type', 'value_is_frozen');
  const options = isEmpty(input.config) ? [] : former.value_type === 'select' ? optionsOf(input.config) : undefined;
  if (options === undefined) addFault(faults, 'privilege.config', 'invalid_format');
  return {
    ...former,
    name: input.name === undefined ? former.name : input.name,
    select_options: [...new Set([...former.select_options, ...(options ?? [])])],
  };
}

const isRecord = (config: unknown): config is Record<string, unknown> =>
  typeof config === 'object' && config !== null && !Array.isArray(config);

const isEmpty = (config: unknown): boolean =>
  config === undefined || config === null || (isRecord(config) && Object.keys(config).length === 0);

/** Options of a select: exactly `{select_options: [texts]}`, at least one. */
function optionsOf(config: unknown): string[] | undefined {
  if (!isRecord(config) || Object.keys(config).length !== 1) return undefined;
  const { select_options: options } = config;
  const isList = Array.isArray(options) && options.length > 0 && options.every(isOption);
  return isList ? [...new Set(options as string[])] : undefined;
}

const isOption = (option: unknown): boolean => typeof option === 'string' && option.trim() !== '' && isStorable(option);

function addFault(faults: Faults, field: string, code: string): void {
  faults[field] = [code];
}
