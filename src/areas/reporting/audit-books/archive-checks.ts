import { realNow } from '../../../platform/clock/real-clock.ts';
import { listBrokenDays } from '../../documents/archive/queries.ts';
import { findChangedDocuments } from '../../documents/archive/verify-archive.ts';
import { type Check, MOST_FINDINGS } from './check-of-an-invariant.ts';

/** Days whose documents are computed again each night; all of them are by `npm run documents -- verify`. */
const DAYS_CHECKED = 3;

/** Invariants of what was handed out. Rules: e-documents.md#archive, auditor.md. */
export const ARCHIVE_CHECKS: readonly Check[] = [
  {
    code: 'A38',
    mustHold: 'electronic documents of the last 3 days and their roots are what was handed out',
    resourceType: 'EDocument',
    isSlow: true,
    async find(ctx) {
      const from = realNow().toZonedDateTimeISO('UTC').toPlainDate().subtract({ days: DAYS_CHECKED });
      const documents = await findChangedDocuments(ctx, from, MOST_FINDINGS);
      const days = await listBrokenDays(ctx, from, MOST_FINDINGS);
      return [
        ...documents.map(({ document_id, expected, actual }) => ({ resource_id: document_id, expected, actual })),
        ...days.map(({ billing_entity_code, day, expected, actual }) => ({
          resource_id: `${billing_entity_code} ${day.toString()}`,
          expected,
          actual,
        })),
      ].slice(0, MOST_FINDINGS);
    },
  },
];
