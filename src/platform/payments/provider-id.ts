/** Characters of an id that a provider gave: those of all are shorter, and indexes hold them. */
const ID_MAX = 255;

/**
 * An id of a payment, a method, a customer or a refund at a provider, out of its message; undefined when it is none.
 */
export const providerId = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= ID_MAX ? value : undefined;
