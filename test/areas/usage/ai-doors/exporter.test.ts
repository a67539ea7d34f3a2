import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { expect, onTestFinished, test } from 'vitest';
import { startService } from '../../../support/service.ts';

type Span = Parameters<OTLPTraceExporter['export']>[0][number];

const span = (attributes: object): Span => {
  const context = { traceId: '5b8efff798038103d269b633813fc60c', spanId: 'eee19b7ec3c1b174', traceFlags: 1 };
  return {
    name: 'chat alpha',
    kind: 2, // client, as the interface counts
    spanContext: () => context,
    startTime: [1_893_456_000, 0],
    endTime: [1_893_456_001, 500_000_000],
    duration: [1, 500_000_000],
    status: { code: 0 },
    ended: true,
    attributes,
    links: [],
    events: [],
    resource: { attributes: { external_subscription_id: 'ada-1' }, merge: () => expect.unreachable() },
    instrumentationScope: { name: 'shop' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  } as unknown as Span;
};

test('the exporter of OpenTelemetry sends a call by two settings', async () => {
  const service = await startService({ pools: ['events', 'writes'] });
  onTestFinished(() => service.stop());
  const client = await service.org();
  const exporter = new OTLPTraceExporter({
    url: `${service.url}/api/v1/otlp/v1/traces`,
    headers: { Authorization: `Bearer ${client.organization.api_key}` },
  });
  const sent = span({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.response.model': 'alpha',
    'gen_ai.usage.input_tokens': 3819,
    'gen_ai.usage.output_tokens': 20,
  });
  const result = await new Promise<{ code: number; error?: Error }>((resolve) => exporter.export([sent], resolve));
  await exporter.shutdown();
  expect(result).toMatchObject({ code: 0 });
  const id = 'otel:5b8efff798038103d269b633813fc60c:eee19b7ec3c1b174';
  expect((await client.get(`/events/${encodeURIComponent(id)}`)).body.event).toMatchObject({
    timestamp: '2030-01-01T00:00:01.500Z',
    properties: { tokens_input: '3819', tokens_output: '20' },
  });
});
