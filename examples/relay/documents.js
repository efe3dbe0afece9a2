// The documents of the example. relay-compiler checks them against the schema and writes a module for each. Relay's Babel
// plugin would replace each tag by an import of its module; without Babel, main.js imports them itself.
import { graphql } from 'relay-runtime';

export default [
  graphql`
    mutation documentsCreateMutation($name: String!) {
      createThing(input: { name: $name, license: CC, category: "Tools", description: "Made by an example." }) {
        thing { id nodeId state }
      }
    }`,
  graphql`
    mutation documentsStageMutation($name: String!, $thing: ID!) {
      stageUpload(input: { name: $name, target: { type: THING, id: $thing } }) {
        upload { fileId formAction formFields { name value } }
      }
    }`,
  graphql`
    mutation documentsFinalizeMutation($file: ID!, $thing: ID!) {
      finalizeFiles(input: { files: [{ id: $file }], target: { type: THING, id: $thing } }) {
        files { id state }
      }
    }`,
  graphql`
    subscription documentsProcessingSubscription($file: ID!) {
      fileProcessing(id: $file) { state stage progress error }
    }`,
  // The payload holds the nodeId, so Relay updates the thing in its store.
  graphql`
    mutation documentsPublishMutation($thing: ID!) {
      publishThing(input: { id: $thing }) { thing { ...documents_thing } }
    }`,
  graphql`
    mutation documentsDownloadMutation($file: ID!) {
      recordDownload(input: { fileId: $file }) { url }
    }`,
  graphql`
    query documentsListQuery {
      things(first: 5, sort: NEWEST) { nodes { id ...documents_thing } }
    }`,
  // relay-compiler generates a query for this fragment, which reads one thing again by its nodeId.
  graphql`
    fragment documents_thing on Thing @refetchable(queryName: "documentsThingRefetchQuery") {
      id
      name
      state
      creator { username }
    }`,
];
