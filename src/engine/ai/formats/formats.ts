import { anthropicMessages } from './anthropic-messages.ts';
import { bedrockConverse } from './bedrock-converse.ts';
import { canonical } from './canonical.ts';
import { cohere } from './cohere.ts';
import type { Format } from './format.ts';
import { gemini } from './gemini.ts';
import { litellm } from './litellm.ts';
import { mistral } from './mistral.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';
import { otel } from './otel.ts';
import { vercelAi } from './vercel-ai.ts';

/** All versions of all formats, the most specific marks first; of one format the newest version last. */
export const FORMATS: readonly Format[] = [
  canonical,
  otel,
  litellm,
  vercelAi,
  cohere,
  gemini,
  bedrockConverse,
  mistral,
  openaiResponses,
  anthropicMessages,
  openaiChat,
];

const VERSIONS: ReadonlyMap<string, readonly Format[]> = new Map(
  FORMATS.map(({ code }) => [code, FORMATS.filter((format) => format.code === code)]),
);

/** The format of a code at an instant (ISO text), or in a version; undefined if there is none. */
export function formatOf(code: string, at: string, version?: number): Format | undefined {
  const known = VERSIONS.get(code) ?? [];
  if (version !== undefined) return known.find((format) => format.version === version);
  return known.findLast(({ from }) => from <= at);
}

/** How a stored event names its format: `openai_chat/1`. */
export const formatName = ({ code, version }: Format): string => `${code}/${version}`;
