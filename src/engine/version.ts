/**
 * Version of the rules in this folder, stored beside every fee that they computed.
 * A change that moves any amount of any golden case raises it. Rule: fee-explanations.md "engine_version".
 */
export const ENGINE_VERSION = 1;
