import { to } from '../frame/route.ts';
import { can } from '../frame/session.ts';
import { t } from '../texts/en.ts';

/** A fact of a record that leads to what was booked for it; nothing for a key that cannot read the ledger. */
export const inLedger = (record: 'invoice' | 'credit_note' | 'payment' | 'wallet', id: string) =>
  can('ledger')
    ? [
        [
          t.ledger.inLedger,
          <a href={to('ledger', undefined, undefined, { show: 'entries', [record]: id })}>{t.ledger.itsEntries}</a>,
        ] as const,
      ]
    : [];
