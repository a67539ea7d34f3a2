import type { CustomerRow } from './queries.ts';

/** Addresses to which the mails of a customer go. */
export const mailAddressesOf = ({ email }: Pick<CustomerRow, 'email'>): string[] =>
  (email ?? '')
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '');

/** How a mail calls its customer. */
export const mailedName = (customer: CustomerRow): string =>
  customer.legal_name ||
  customer.name ||
  [customer.firstname, customer.lastname].filter(Boolean).join(' ') ||
  customer.external_id;
