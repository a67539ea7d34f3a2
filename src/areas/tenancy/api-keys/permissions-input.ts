import { MANDATORY } from '../../../platform/schema/fields.ts';
import { PERMISSION_RESOURCES, type PermissionResource, type Permissions } from '../organizations/permissions.ts';

const KNOWN: ReadonlySet<string> = new Set(PERMISSION_RESOURCES);
const MODES = ['read', 'write'] as const;
/** How many wrong words an error names at most. */
const SHOWN_AT_MOST = 100;

/**
 * Permissions as a client sent them: resource → modes, each mode once. A resource without modes has no permission.
 *
 * @returns the permissions, or the codes of the refusal (api-keys.md#record)
 */
export function permissionsOf(sent: unknown): { permissions?: Permissions; codes: string[] } {
  if (sent === null || sent === undefined) return { codes: [MANDATORY] };
  if (typeof sent !== 'object' || Array.isArray(sent)) return { codes: ['value_is_invalid'] };
  const entries = Object.entries(sent);
  if (entries.length === 0) return { codes: [MANDATORY] };
  const forbiddenKeys = entries.map(([resource]) => resource).filter((resource) => !KNOWN.has(resource));
  const forbiddenValues = [...new Set(entries.flatMap(([, modes]) => wrongModes(modes)))];
  const codes = [
    ...(forbiddenKeys.length > 0 ? [`contains forbidden keys: [${shown(forbiddenKeys)}]`] : []),
    ...(forbiddenValues.length > 0 ? [`contains forbidden values: [${shown(forbiddenValues)}]`] : []),
  ];
  if (codes.length > 0) return { codes };
  const permissions = Object.fromEntries(
    entries.map(([resource, modes]) => [resource, MODES.filter((mode) => (modes as string[]).includes(mode))]),
  ) as Permissions;
  return { permissions, codes };
}

const wrongModes = (modes: unknown): unknown[] =>
  Array.isArray(modes) ? modes.filter((mode) => !(MODES as readonly unknown[]).includes(mode)) : [modes];

const shown = (words: unknown[]): string =>
  words
    .slice(0, SHOWN_AT_MOST)
    .map((word) => JSON.stringify(word))
    .join(', ');

/** Permissions as flat `resource:mode` words, in the order of the resources. */
export const flatPermissions = (permissions: Permissions): string[] =>
  PERMISSION_RESOURCES.flatMap((resource: PermissionResource) =>
    MODES.filter((mode) => permissions[resource]?.includes(mode)).map((mode) => `${resource}:${mode}`),
  );

/** The first flat permission that is wanted and missing. */
export function lackedPermission(wanted: Permissions, held: Permissions): string | undefined {
  const holds = new Set(flatPermissions(held));
  return flatPermissions(wanted).find((permission) => !holds.has(permission));
}
