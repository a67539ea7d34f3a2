/** Our names of what was asked for, which come back as the `merchantReference` of events. */
const PAGE = /^page-(Invoice|PaymentRequest)-(.+)$/;
const SETUP = /^setup-(.+)$/;

/** The reference of a page on which something is paid. */
export const pageReference = (metadata: Readonly<Record<string, string>>): string =>
  `page-${metadata.payable_type}-${metadata.payable_id}`;

/** The reference of a page on which a method is stored. */
export const setupReference = (providerCustomerId: string): string => `setup-${providerCustomerId}`;

/** Whether a customer was present on a page, where a method may have been stored. */
export const isOfPage = (reference: string): boolean => PAGE.test(reference) || SETUP.test(reference);

/** What a reference says of our records; charges and refunds are named by their own id. */
export function metadataOf(reference: string): Record<string, string> {
  const page = PAGE.exec(reference);
  if (page) return { payable_type: page[1]!, payable_id: page[2]! };
  if (reference === '' || SETUP.test(reference)) return {};
  return { payment_id: reference, credit_note_id: reference };
}
