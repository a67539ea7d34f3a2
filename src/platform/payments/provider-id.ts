/** How many characters a provider's id may have: all real ones are shorter, and indexes must hold them. */
const ID_MAX = 255;

/** The id of a payment, a method, a customer or a refund in a provider's message; undefined if it is not valid. */
export const providerId = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= ID_MAX ? value : undefined;
