// A program of a user of the API, with the client that oapi-codegen makes: it signs up, lists, pages, asks what fits and
// what a name means. It is compiled beside the generated package.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"

	"modeldex/clients/client"
)

func main() {
	ctx := context.Background()
	c, err := client.NewClientWithResponses(os.Args[1])
	check(err)
	signUp, err := c.IssueKeyWithResponse(ctx, client.NewKey{Name: "a client", Email: "ada@example.com", UseCase: "trying the client"})
	check(err)
	if signUp.JSON201 == nil {
		log.Fatal(signUp.ApplicationproblemJSONDefault.Detail)
	}
	key := func(_ context.Context, req *http.Request) error {
		req.Header.Set("Authorization", "Bearer "+*signUp.JSON201.Data.Key)
		return nil
	}

	limit, count := int64(2), 0
	params := &client.ListModelsParams{Limit: &limit}
	for {
		page, err := c.ListModelsWithResponse(ctx, params, key)
		check(err)
		for _, m := range page.JSON200.Data {
			count++
			fmt.Println("model", m.Slug, m.Family)
		}
		if page.JSON200.Links.Next == nil {
			fmt.Println("models", count, "of", page.JSON200.Meta.Total)
			break
		}
		next, err := url.Parse(*page.JSON200.Links.Next)
		check(err)
		cursor := next.Query().Get("cursor")
		params.Cursor = &cursor
	}

	hardware, vendor := "nvidia-rtx-3090", []client.ListHardwareParamsVendor{client.ListHardwareParamsVendorNvidia}
	cards, err := c.ListHardwareWithResponse(ctx, &client.ListHardwareParams{Vendor: &vendor}, key)
	check(err)
	fmt.Println("hardware", cards.JSON200.Data[0].Name)
	fits, err := c.ShowFitWithResponse(ctx, &client.ShowFitParams{Model: "llama-2-7b", Hardware: &hardware}, key)
	check(err)
	fmt.Println("fit", fits.JSON200.Data.Model, fits.JSON200.Data.Sizes[0].Verdict)
	name, err := c.ResolveNameWithResponse(ctx, &client.ResolveNameParams{Q: "GeForce RTX 3090"}, key)
	check(err)
	fmt.Println("name", *name.JSON200.Data.Slug)
	none, err := c.GetModelWithResponse(ctx, "no-such-model", nil, key)
	check(err)
	fmt.Println("error", none.ApplicationproblemJSON404.Code)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
