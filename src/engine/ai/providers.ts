import { own } from '../own.ts';

/** Names under which gateways and telemetry know a provider, in lower case, and ours. */
const NAMES: Readonly<Record<string, string>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  google: 'google',
  gemini: 'google',
  'gcp.gemini': 'google',
  'gcp.gen_ai': 'google',
  'gcp.vertex_ai': 'vertex_ai',
  vertex_ai: 'vertex_ai',
  'vertex_ai-language-models': 'vertex_ai',
  azure: 'azure',
  'azure.ai.openai': 'azure',
  'az.ai.openai': 'azure',
  azure_openai: 'azure',
  'azure.ai.inference': 'azure_ai',
  'az.ai.inference': 'azure_ai',
  azure_ai: 'azure_ai',
  bedrock: 'bedrock',
  'aws.bedrock': 'bedrock',
  aws_bedrock: 'bedrock',
  bedrock_converse: 'bedrock',
  mistral: 'mistral',
  mistral_ai: 'mistral',
  cohere: 'cohere',
  cohere_chat: 'cohere',
  deepseek: 'deepseek',
  groq: 'groq',
  xai: 'xai',
  x_ai: 'xai',
  perplexity: 'perplexity',
  'ibm.watsonx.ai': 'watsonx',
  watsonx: 'watsonx',
};

/** Our name of a provider; one that is not in the table stays as it was sent. Rule: ai-usage.md#formats. */
export const providerName = (sent: string): string => own(NAMES, sent.toLowerCase()) ?? sent;

/** Names of tiers that mean the standard one. */
const STANDARD: ReadonlySet<string> = new Set(['default', 'auto', 'on_demand', 'standard']);
const TIER = /^[a-z][a-z0-9_-]*$/;

/** A tier in lower case; `standard` for its other names, undefined for what is no word. */
export function tierName(sent: string): string | undefined {
  const tier = sent.toLowerCase();
  if (STANDARD.has(tier)) return 'standard';
  return TIER.test(tier) ? tier : undefined;
}
