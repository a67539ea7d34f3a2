import { parseProperties } from '../events/property-json.ts';
import type { UsageInput } from './read-usage.ts';

/** What the API log keeps of a request with usage of models: what was extracted, nothing of the content. */
export const loggedUsage = ({ items }: Pick<UsageInput, 'items'>): { ai_usages: object[] } => ({
  ai_usages: items.flatMap((item) =>
    'call' in item
      ? item.call.events.map(({ transaction_id, external_subscription_id, code, properties }) => ({
          transaction_id,
          external_subscription_id,
          code,
          properties: parseProperties(properties),
        }))
      : [],
  ),
});
