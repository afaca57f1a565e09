// The reference page: Swagger UI over this origin's own document, without its online validator.
'use strict';

const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

window.ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  validatorUrl: null,
  tryItOutEnabled: true,
  filter: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 2,
  docExpansion: 'list',
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
});

// On narrow screens the guide stands above the routes.
document.getElementById('jump').addEventListener('click', (event) => {
  event.preventDefault(); // the hash belongs to Swagger UI
  document.querySelector('#reference main')?.scrollIntoView();
});
