import type { Context } from '../../../platform/context.ts';
import { isUuid } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { emails } from '../../../platform/schema/typed-text.ts';
import { isObject } from './billing-items/read-fields.ts';
import { findOwnerIds, ownersOf } from './writes.ts';

/**
 * Ids of the owners that an input names, each once, in its order: by address, which stores a new person, or by the id
 * of a stored one. An element is a text or an object with `email` or `svc_id`.
 *
 * @throws Refusal 422 owners: value_is_mandatory, invalid_email_format, value_is_invalid (unknown id)
 */
export async function readOwners(ctx: Context, given: readonly unknown[]): Promise<string[]> {
  const names = given.map(nameOf);
  if (names.includes(undefined)) throw refuse.invalid({ owners: ['value_is_mandatory'] });
  if (names.includes(null)) throw refuse.invalid({ owners: ['invalid_email_format'] });
  const known = names as string[];
  const ids = known.filter(isUuid);
  const stored = ids.length > 0 ? await findOwnerIds(ctx, ids) : new Set();
  if (ids.some((id) => !stored.has(id))) throw refuse.invalid({ owners: ['value_is_invalid'] });
  const addresses = [...new Set(known.filter((name) => !isUuid(name)))];
  const people = addresses.length > 0 ? await ownersOf(ctx, addresses, ctx.now()) : new Map<string, string>();
  return [...new Set(known.map((name) => people.get(name) ?? name))];
}

/** Id or address of an owner in lower case; undefined if none is named, null if it is neither. */
function nameOf(owner: unknown): string | null | undefined {
  const { svc_id: id, email } = isObject(owner) ? owner : { svc_id: undefined, email: owner };
  const name = id ?? email;
  if (typeof name !== 'string' || name.trim() === '') return undefined;
  const plain = name.trim().toLowerCase();
  if (isUuid(plain)) return plain;
  const address = plain.includes(',') ? undefined : emails().safeParse(plain).data;
  return address ?? null;
}
