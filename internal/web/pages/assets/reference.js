// Shows the OpenAPI document in Swagger UI, whose script comes before this one. Plain script, no build step.
(() => {
  'use strict';

  const { base, user, notShown } = document.currentScript.dataset;
  const place = document.getElementById('reference');

  // Swagger UI's dark colours hang on a class and not on what the system prefers.
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', paint);
  paint();

  const fitted = () => ({
    wrapComponents: {
      // Swagger UI's main element stands in the page's own, and a page has one.
      operations: (Original, { React: { createElement: h, useEffect } }) => props => {
        useEffect(() => {
          place.querySelector('main')?.setAttribute('role', 'none');
          place.querySelector('#servers')?.setAttribute('aria-label', 'Server');
        }, []);
        return h(Original, props);
      },
      // What the document says in fields of its own, such as the GraphQL behind an operation, is text with lines.
      OperationExtRow: (_, { React: { createElement: h } }) => ({ xKey, xVal }) => {
        const value = typeof xVal === 'string' ? xVal.trim() : JSON.stringify(xVal?.toJS?.() ?? xVal, null, 2);
        return h('tr', null, h('td', null, xKey), h('td', null, h('pre', { className: 'extension' }, value)));
      },
    },
  });

  const show = spec => {
    place.lang = 'en'; // as the document
    // Requests go where the page came from: the policy allows no other place, and who reads it by another name or through a tunnel is served too.
    spec.servers = [{ url: location.origin + base }];
    SwaggerUIBundle({
      domNode: place,
      spec,
      presets: [SwaggerUIBundle.presets.apis],
      plugins: [fitted],
      layout: 'BaseLayout',
      deepLinking: true,
      docExpansion: 'list',
      // The first operation of a group is one to start with.
      operationsSorter: (a, b) => Number(a.getIn(['operation', 'deprecated'], false)) - Number(b.getIn(['operation', 'deprecated'], false)),
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      showExtensions: true,
      validatorUrl: null, // else it would send the document's address to another host
      persistAuthorization: false, // else it would keep the token in local storage
      // Who is signed in in this browser needs no token: the header makes the session of this user count. A token given to Authorize has precedence.
      requestInterceptor: request => {
        if (user) request.headers['Meshyard-Session'] = user;
        return request;
      },
    });
  };

  fetch(`${base}/openapi.json`)
    .then(response => {
      if (!response.ok) throw new Error(`the server answered ${response.status}`);
      return response.json();
    })
    .then(show)
    .catch(error => {
      place.textContent = notShown.replace('%s', () => error.message);
    });
})();
