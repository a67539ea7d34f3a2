import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import type { Operation } from '../../../platform/operation.ts';
import { createCampaign, deleteCampaign, resetDunning, showDunning, updateCampaign } from './commands.ts';
import { getCampaign, listCampaigns } from './queries.ts';
import {
  CampaignCreate,
  CampaignEnvelope,
  CampaignList,
  CampaignsQuery,
  CampaignUpdate,
  DunningEnvelope,
} from './schema.ts';
import { campaignView } from './view.ts';

const common = { permission: 'dunning_campaign', tag: 'dunning_campaigns', answer: CampaignEnvelope } as const;

async function listPage(ctx: Context, { query }: { query: CampaignsQuery }) {
  const { rows, totalCount } = await listCampaigns(ctx, query);
  return { dunning_campaigns: rows.map(campaignView), meta: pageMeta(query, totalCount) };
}

/** @throws Refusal 404 dunning_campaign */
const show = async (ctx: Context, { code }: { code: string }) => ({
  dunning_campaign: campaignView(await getCampaign(ctx, code)),
});

const update: Operation = {
  ...common,
  name: 'updateDunningCampaign',
  method: 'put',
  path: '/dunning_campaigns/:code',
  summary: 'Update a dunning campaign',
  root: 'dunning_campaign',
  body: CampaignUpdate,
  kind: 'command',
  run: updateCampaign,
};

export const dunningCampaignOperations: Operation[] = [
  {
    ...common,
    name: 'createDunningCampaign',
    method: 'post',
    path: '/dunning_campaigns',
    summary: 'Create a dunning campaign',
    root: 'dunning_campaign',
    body: CampaignCreate,
    kind: 'command',
    run: createCampaign,
  },
  {
    ...common,
    name: 'findAllDunningCampaigns',
    method: 'get',
    path: '/dunning_campaigns',
    summary: 'List dunning campaigns',
    query: CampaignsQuery,
    answer: CampaignList,
    kind: 'read',
    run: listPage,
  },
  {
    ...common,
    name: 'findDunningCampaign',
    method: 'get',
    path: '/dunning_campaigns/:code',
    summary: 'Retrieve a dunning campaign',
    kind: 'read',
    run: show,
  },
  update,
  { ...update, name: 'patchDunningCampaign', method: 'patch', hidden: true },
  {
    ...common,
    name: 'destroyDunningCampaign',
    method: 'delete',
    path: '/dunning_campaigns/:code',
    summary: 'Delete a dunning campaign',
    kind: 'command',
    run: deleteCampaign,
  },
  {
    ...common,
    name: 'findCustomerDunning',
    method: 'get',
    path: '/customers/:external_id/dunning',
    summary: 'How far the dunning of a customer is',
    answer: DunningEnvelope,
    kind: 'read',
    run: showDunning,
  },
  {
    ...common,
    name: 'resetCustomerDunning',
    method: 'post',
    path: '/customers/:external_id/dunning/reset',
    summary: 'Restart the dunning of a customer',
    answer: DunningEnvelope,
    kind: 'command',
    run: resetDunning,
  },
];
