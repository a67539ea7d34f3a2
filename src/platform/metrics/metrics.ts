import { hostname } from 'node:os';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Metrics of one process, in the Prometheus format (`/metrics`). */
export function createMetrics(processName: string) {
  const registry = new Registry();
  // Copies of one process are counted separately, so that no sum falls when one of them ends.
  registry.setDefaultLabels({ process: processName, copy: `${hostname()}-${process.pid}` });
  const registers = [registry];
  return {
    registry,
    requests: new Counter({
      name: 'meterstone_http_requests_total',
      help: 'Answered requests',
      labelNames: ['operation', 'method', 'status'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'meterstone_http_request_seconds',
      help: 'Time to answer',
      labelNames: ['operation'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    readsRefused: new Counter({
      name: 'meterstone_reads_refused_total',
      help: 'Reads refused because their organization has too many, by what they waited for (connections, processor)',
      labelNames: ['of'],
      registers,
    }),
    replicaReads: new Counter({
      name: 'meterstone_replica_reads_total',
      help: 'Reads that a replica may answer, by server (replica, primary) and reason (reached, behind, unknown, none, failed)',
      labelNames: ['served_by', 'reason'],
      registers,
    }),
    replicaLagSeconds: new Gauge({
      name: 'meterstone_replica_lag_seconds',
      help: 'How far a read replica is behind',
      labelNames: ['replica'],
      registers,
    }),
    jobs: new Counter({
      name: 'meterstone_jobs_total',
      help: 'Jobs run',
      labelNames: ['queue', 'job', 'outcome'],
      registers,
    }),
    jobSeconds: new Histogram({
      name: 'meterstone_job_seconds',
      help: 'Duration of jobs',
      labelNames: ['queue', 'job'],
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120],
      registers,
    }),
    unmappedFields: new Counter({
      name: 'meterstone_ai_unmapped_fields_total',
      help: 'Figures in reported usage of models that no mapping knows, by format and place (100 places, then `other`)',
      labelNames: ['format', 'path'],
      registers,
    }),
    eventsStored: new Counter({
      name: 'meterstone_events_total',
      help: 'Events by verdict',
      labelNames: ['verdict'],
      registers,
    }),
    bulkLines: new Counter({
      name: 'meterstone_bulk_lines_total',
      help: 'Lines of bulk requests by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    eDocuments: new Counter({
      name: 'meterstone_e_documents_total',
      help: 'Electronic documents that were tried to be made, by profile and what became of them (ready, failed)',
      labelNames: ['profile', 'status'],
      registers,
    }),
    mails: new Counter({
      name: 'meterstone_mails_total',
      help: 'Mails that were handed to the mail server, by template and what became of them (sent, failed, unsent)',
      labelNames: ['template', 'status'],
      registers,
    }),
    portalCommands: new Counter({
      name: 'meterstone_portal_commands_total',
      help: 'Forms that customers sent on their pages, by command and status of its answer',
      labelNames: ['name', 'status'],
      registers,
    }),
    unmatchedEvents: new Gauge({
      name: 'meterstone_unmatched_events',
      help: 'Open events that no charge takes, by reason',
      labelNames: ['reason'],
      registers,
    }),
    priceBookAgeDays: new Gauge({
      name: 'meterstone_price_book_age_days',
      help: 'Age of the prices of the deployment in days; absent while it has none',
      registers,
    }),
    auditFindingsOpen: new Gauge({
      name: 'meterstone_audit_findings_open',
      help: 'Findings of the auditor that are not resolved, by check',
      labelNames: ['check'],
      registers,
    }),
    providerCalls: new Counter({
      name: 'meterstone_provider_calls_total',
      help: 'Calls to payment providers, by type of connection, operation, and what became of them',
      labelNames: ['type', 'operation', 'outcome'],
      registers,
    }),
    providerCallsRefused: new Counter({
      name: 'meterstone_provider_calls_refused_total',
      help: 'Calls that were not made, because they would have left a sandbox for a live account or simulated time',
      registers,
    }),
    providerDriftsOpen: new Gauge({
      name: 'meterstone_provider_drifts_open',
      help: 'Open differences between payment providers and our records, by kind',
      labelNames: ['kind'],
      registers,
    }),
    lateWork: new Gauge({
      name: 'meterstone_late_work',
      help: 'Subscriptions due or corrections waiting for two hours, invoices and payments that failed, dead endpoints',
      labelNames: ['what'],
      registers,
    }),
    auditLastSuccess: new Gauge({
      name: 'meterstone_audit_last_success_timestamp',
      help: 'When an organization was last audited to the end, by mode',
      labelNames: ['mode'],
      registers,
    }),
    stepsOwed: new Gauge({
      name: 'meterstone_after_steps',
      help: 'After-steps that are owed, by name and state (waiting, not understood by any worker, failed)',
      labelNames: ['job', 'state'],
      registers,
    }),
    readyTroubles: new Gauge({
      name: 'meterstone_ready_troubles',
      help: 'Reasons why `/ready` is degraded or not ready, by check',
      labelNames: ['check'],
      registers,
    }),
    ingestLagSeconds: new Histogram({
      name: 'meterstone_ingest_lag_seconds',
      help: 'From reception of an event to its commit',
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
      registers,
    }),
    streamMessages: new Counter({
      name: 'meterstone_stream_messages_total',
      help: 'Messages of streams that were read and settled',
      labelNames: ['organization', 'connector'],
      registers,
    }),
    streamEvents: new Counter({
      name: 'meterstone_stream_events_total',
      help: 'Events of streams by what became of them (stored, replayed, dead)',
      labelNames: ['organization', 'connector', 'outcome'],
      registers,
    }),
    streamBatchSeconds: new Histogram({
      name: 'meterstone_stream_batch_seconds',
      help: 'Time to store the messages of one transaction',
      labelNames: ['organization', 'connector'],
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    streamLagSeconds: new Gauge({
      name: 'meterstone_stream_lag_seconds',
      help: 'Age of the oldest message that is not stored',
      labelNames: ['organization', 'connector'],
      registers,
    }),
    streamLagMessages: new Gauge({
      name: 'meterstone_stream_lag_messages',
      help: 'Messages that are not stored yet',
      labelNames: ['organization', 'connector'],
      registers,
    }),
    redisFallbacks: new Counter({
      name: 'meterstone_redis_fallbacks_total',
      help: 'Calls to Redis that failed and without which work went on, by what went on',
      labelNames: ['what'],
      registers,
    }),
    silentProcesses: new Gauge({
      name: 'meterstone_silent_processes',
      help: 'Processes that work but did not answer the last scrape, so that their counts are missing',
      registers,
    }),
    queueJobs: new Gauge({
      name: 'meterstone_queue_jobs',
      help: 'Jobs by queue and state',
      labelNames: ['queue', 'state'],
      registers,
    }),
    queueAgeSeconds: new Gauge({
      name: 'meterstone_queue_oldest_seconds',
      help: 'Age of the oldest waiting job',
      labelNames: ['queue'],
      registers,
    }),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
