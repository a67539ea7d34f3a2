import type { Operation } from '../../../platform/operation.ts';
import { createApiKey, deleteApiKey, rotateApiKey, updateApiKey } from './commands.ts';
import { showApiKey, showApiKeys, showCurrentApiKey } from './reads.ts';
import {
  ApiKeyEnvelope,
  ApiKeyInput,
  ApiKeyList,
  ApiKeyRotation,
  ApiKeysQuery,
  CurrentApiKeyEnvelope,
  NewApiKeyEnvelope,
} from './schema.ts';

const common = {
  permission: 'api_key',
  tag: 'api_keys',
  path: '/api_keys/:svc_id',
  answer: ApiKeyEnvelope,
} as const;

const update = {
  ...common,
  summary: "Change an API key's name or permissions",
  kind: 'command',
  root: 'api_key',
  body: ApiKeyInput,
  run: updateApiKey,
} as const;

export const apiKeyOperations: Operation[] = [
  {
    ...common,
    name: 'createApiKey',
    method: 'post',
    path: '/api_keys',
    summary: 'Make an API key, whose value this answer alone shows',
    description: 'No key can grant what it lacks itself.',
    kind: 'command',
    root: 'api_key',
    body: ApiKeyInput,
    answer: NewApiKeyEnvelope,
    revealsSecret: true,
    run: createApiKey,
  },
  {
    ...common,
    name: 'findAllApiKeys',
    fresh: true,
    method: 'get',
    path: '/api_keys',
    summary: 'List valid API keys',
    kind: 'read',
    query: ApiKeysQuery,
    answer: ApiKeyList,
    run: showApiKeys,
  },
  {
    ...common,
    name: 'findCurrentApiKey',
    permission: null,
    fresh: true,
    method: 'get',
    path: '/api_keys/current',
    summary: 'Retrieve the API key of the request, with its organization',
    kind: 'read',
    answer: CurrentApiKeyEnvelope,
    run: showCurrentApiKey,
  },
  {
    ...common,
    name: 'findApiKey',
    fresh: true,
    method: 'get',
    summary: 'Retrieve an API key',
    kind: 'read',
    run: showApiKey,
  },
  { ...update, name: 'updateApiKey', method: 'put' },
  { ...update, name: 'patchApiKey', method: 'patch', hidden: true },
  {
    ...common,
    name: 'destroyApiKey',
    method: 'delete',
    summary: 'End an API key at once',
    kind: 'command',
    run: deleteApiKey,
  },
  {
    ...common,
    name: 'rotateApiKey',
    method: 'post',
    path: '/api_keys/:svc_id/rotate',
    summary: 'Put a new key in the place of one, which may stay valid for a while',
    description:
      'The value of the new one is in this answer alone. The old one stays valid until `expires_at`, and ends at once without it.',
    kind: 'command',
    root: 'api_key',
    body: ApiKeyRotation,
    bodyOptional: true,
    answer: NewApiKeyEnvelope,
    revealsSecret: true,
    run: rotateApiKey,
  },
];
