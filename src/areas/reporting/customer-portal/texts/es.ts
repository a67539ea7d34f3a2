import type { PortalTexts } from './portal-texts.ts';

export const es: PortalTexts = {
  title: 'Facturación',
  balance: 'Saldo',
  due: 'Pendiente',
  overdue: 'Vencido',
  subscriptions: 'Suscripciones',
  states: {
    active: 'Activa',
    pending: 'Empieza más tarde',
    incomplete: 'En espera de pago',
    terminated: 'Finalizada',
  },
  nextBilling: 'Próxima facturación el {date}',
  startsOn: 'Empieza el {date}',
  endsOn: 'Termina el {date}',
  endedOn: 'Terminó el {date}',
  usage: 'Consumo actual',
  usageUnknown: 'El consumo no se puede mostrar en este momento.',
  credits: '{credits} créditos',
  afterUsage: '{amount} tras el consumo actual',
  expiresOn: 'Caduca el {date}',
  invoices: 'Facturas',
  receipts: 'Recibos de pago',
  payment: {
    paid: 'Pagada',
    settled: 'Saldada',
    underWay: 'Pago en curso',
    partlyPaid: 'Pagada en parte',
    overdue: 'Vencida',
    failed: 'Pago fallido',
    open: 'Pendiente',
  },
  pay: 'Pagar',
  download: 'Descargar PDF',
  left: 'Quedan {amount}',
  nothing: 'Todavía no hay nada.',
  newer: 'Más recientes',
  older: 'Más antiguas',
  back: 'Volver al resumen',
  notices: {
    preparing: {
      title: 'Su documento se está preparando',
      text: 'Esta página lo cargará sola en unos segundos.',
    },
    unauthorized: {
      title: 'Este enlace ya no es válido',
      text: 'Pida un enlace nuevo a su proveedor.',
    },
    notFound: {
      title: 'Esta página no existe',
      text: 'Lo que busca no está aquí.',
    },
    tooMany: {
      title: 'Demasiadas solicitudes',
      text: 'Espere un momento y vuelva a cargar la página.',
    },
    failed: {
      title: 'Algo ha fallado',
      text: 'Inténtelo de nuevo dentro de unos minutos.',
    },
  },
};
