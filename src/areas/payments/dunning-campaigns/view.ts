import { seconds } from '../../../platform/schema/view.ts';
import type { CampaignRow } from './queries.ts';
import type { CampaignView } from './schema.ts';

/** A dunning campaign as the API shows it. Rule: payment-requests.md#dunning-campaigns. */
export const campaignView = ({ id, created_at, updated_at, ...row }: CampaignRow): CampaignView => ({
  svc_id: id,
  ...row,
  created_at: seconds(created_at),
  updated_at: seconds(updated_at),
});
