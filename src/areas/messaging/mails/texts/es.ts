import type { MailTexts } from './mail-texts.ts';

export const es: MailTexts = {
  words: {
    invoice: {
      subject: 'Factura {number} de {seller}: {amount}, vence el {due_date}',
      intro: 'Su factura {number} va adjunta en PDF.',
      closing: '',
    },
    credit_note: {
      subject: 'Nota de crédito {number} de {seller}: {amount}',
      intro: 'Su nota de crédito {number} va adjunta en PDF.',
      closing: '',
    },
    payment_receipt: {
      subject: 'Recibo {number} de {seller}: {amount}',
      intro: 'Gracias por su pago. El recibo {number} va adjunto en PDF.',
      closing: '',
    },
    invoice_overdue: {
      subject: 'Recordatorio: {amount} vencidos con {seller}',
      intro: 'Quizá se le haya pasado: estas facturas siguen pendientes.',
      closing: 'Si ya ha pagado, no tenga en cuenta este mensaje.',
    },
    payment_request: {
      subject: '{seller}: pago pendiente de {amount}',
      intro: 'Estas facturas de {seller} están vencidas:',
      closing: '',
    },
    payment_action: { subject: '{seller}: Confirme su pago', intro: 'Este pago le está esperando.', closing: '' },
    payment_failed: {
      subject: '{seller}: no se pudo cobrar {amount}',
      intro: 'No se pudo cobrar la factura {number}. Puede pagarla de otra manera.',
      closing: '',
    },
    portal_link: {
      subject: 'Su enlace a sus páginas en {seller}',
      intro: 'Este es el nuevo enlace a sus facturas, su consumo y sus formas de pago.',
      closing: 'Si no lo pidió, no tiene que hacer nada.',
    },
    details_changed: {
      subject: 'Sus datos de facturación en {seller} han cambiado',
      intro: 'El correo de sus facturas se cambió en sus páginas. Las facturas ya no llegan a esta dirección.',
      closing: 'Si no fue usted, responda a este correo.',
    },
    wallet_low: {
      subject: '{seller}: quedan {amount} en {wallet}',
      intro: 'Su saldo prepago se está agotando.',
      closing: '',
    },
    top_up_failed: {
      subject: '{seller}: la recarga de {amount} falló',
      intro:
        'No se pudo cobrar su recarga y no se añadió ningún crédito. Compruebe su método de pago o pague de otra forma.',
      closing: '',
    },
    trial_ending: {
      subject: 'Su prueba en {seller} termina el {due_date}',
      intro:
        'Su prueba está a punto de terminar. Después la suscripción continúa de pago, sin que tenga que hacer nada.',
      closing: 'Si no desea continuar, póngase en contacto con nosotros antes de esa fecha.',
    },
    subscription_ending: {
      subject: 'Su suscripción en {seller} termina el {due_date}',
      intro: 'Su suscripción está a punto de terminar. Hasta entonces nada cambia.',
      closing: 'Si desea continuar, póngase en contacto con nosotros.',
    },
    usage_alert: {
      subject: '{seller}: el consumo de {subscription} ha alcanzado {limit}',
      intro: 'Su consumo ha alcanzado un límite del que quería ser avisado.',
      closing: '',
    },
    endpoint_disabled: {
      subject: 'Se desactivó un endpoint de webhooks de {seller}',
      intro:
        'Ya no se envía nada a este endpoint. Los eventos nuevos no se guardan para él hasta que se active de nuevo.',
      closing: '',
    },
    key_created: {
      subject: 'Una nueva clave de API de {seller}',
      intro: 'Se creó una clave de API. Quien la tenga puede hacer lo que permiten sus permisos.',
      closing: 'Si no sabe nada de ella, elimine la clave.',
    },
  },
  settled: 'Factura {number} de {seller}',
  firm: {
    subject: 'Sigue vencido: {amount} con {seller}',
    intro: 'A pesar de nuestro recordatorio, estas facturas siguen pendientes. Páguelas ahora, por favor.',
  },
  final: {
    subject: 'Último recordatorio: {amount} vencidos con {seller}',
    intro:
      'Este es el último recordatorio de estas facturas vencidas. Pague sin demora o póngase en contacto con nosotros.',
  },
  overdueBy: 'con {days} de retraso',
  pages: 'Ver sus facturas y su consumo',
  worksFor: 'El enlace funciona {hours} horas.',
  openPages: 'Abrir mis páginas',
  keepLink: 'El enlace funciona {hours} horas. Quien lo tenga puede abrir sus páginas: no lo comparta.',
  notices: {
    lasts: 'alcanza para unos {days}',
    trialEnds: 'Fin de su prueba de {name}',
    subscriptionEnds: 'Fin de su suscripción {name}',
    limit: 'Límite',
    endpoint: 'Endpoint',
    reason: 'Motivo',
    reasons: { failing: 'Todos los envíos fallan desde hace cinco días', gone: 'Respondió que ya no existe (410)' },
    openWebhooks: 'Abrir los webhooks',
    name: 'Nombre',
    lastFour: 'Termina en',
    createdOn: 'Creada el',
    openKeys: 'Abrir las claves de API',
  },
};
